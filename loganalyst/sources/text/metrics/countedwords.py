"""Regular expressions that names of numbers share: what is counted, and what is written around a number."""

WRAPPED = r"(?:tensor\(|array\(|(?:np|numpy|jnp)\.\w{1,20}\()?"  # around a number: `tensor(`, `np.float32(`
COUNTED = r"(epoch|iteration|iter|step|episode|round|batch|update|generation)"
COUNTED_MANY = (
    r"\s(?:[a-z]+\s){0,2}(?P<unit>(?:mini)?batches|episodes|(?:time)?steps|iterations|epochs|games|runs|updates|trials|rounds|"
    r"samples|examples|images|evaluations)\b"
)
