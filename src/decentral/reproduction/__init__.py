"""The paper's figures and tables, run again: one file per target, and what each says of the paper's claims."""
