"""Pass messages and ascend fields over factor graphs of clauses and tables."""
