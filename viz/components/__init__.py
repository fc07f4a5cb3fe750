"""Pictures that live in the browser: Streamlit components v2. ``client/`` has their code, and nothing else."""
