"""The script that counts parameters, compared with exact counts."""


def test_parameter_shares_are_exact_and_count_tied_weights_once(script, torch):
    model = torch.nn.ModuleDict({"table": torch.nn.Embedding(10, 4), "head": torch.nn.Linear(4, 10, bias=False)})
    model["head"].weight = model["table"].weight
    model["body"] = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 12))
    model["body"][0].bias.requires_grad_(False)
    found = script("parameter_shares")(
        model, torch.optim.SGD(p for p in model.parameters() if p.requires_grad), depth=1
    )

    assert found == {
        "total": 120,
        "embedding": 40,
        "frozen": 4,
        "embedding_share": 40 / 120,
        "parts": {"table": 40, "body": 80},
        "left_out": [],
        "suspicious": [],
    }


def test_parameter_shares_name_parameters_missing_from_the_optimiser(script, torch, model):
    optimizer = torch.optim.SGD(model.parameters())
    model.append(torch.nn.Embedding(100, 3))
    found = script("parameter_shares")(model, optimizer)

    assert found["left_out"] == ["3.weight"]
    assert found["suspicious"] == ["3.weight is not in the optimiser", "embeddings have 82% of the parameters"]


def test_a_model_without_anything_to_train_is_suspicious(script, torch, model):
    assert script("parameter_shares")(model.requires_grad_(False))["suspicious"] == ["nothing is trained"]
