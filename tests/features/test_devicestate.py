"""The clock and the temperature of the device."""

from pathlib import Path

from loganalyst import diagnose


def run(folder: Path, clock: float, heat: float) -> tuple[dict[str, object], list[str]]:
    rows = ["step,loss,step_time,system/gpu.0.temp,system/gpu.0.smClock"]
    for i in range(200):
        now, temperature = (clock, heat) if i >= 100 else (1980, 70)
        rows.append(f"{i * 10},{3 - i / 100 + i % 7 / 100:.3f},{1980 / now + i % 5 / 500:.3f},{temperature},{now}")
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n")
    done = diagnose(folder)
    return done.features.values, [cause.id for cause in done.causes]


def test_a_hot_device_that_lowers_its_clock(tmp_path: Path) -> None:
    values, causes = run(tmp_path, 800, 93)

    assert causes[0] == "thermal-throttling"
    assert (values["device_clock_best"], values["device_clock_last"]) == (1980.0, 800.0)
    assert (values["device_temperature_first"], values["device_temperature_last"]) == (70.0, 93.0)


def test_a_lower_clock_of_a_cool_device_has_another_reason(tmp_path: Path) -> None:
    values, causes = run(tmp_path, 800, 71)

    assert values["device_clock_last_share"] == 800 / 1980
    assert "thermal-throttling" not in causes
