CREATE TABLE client (
    client_id INTEGER PRIMARY KEY,
    cname TEXT NOT NULL,
    sector TEXT,
    city TEXT,
    country TEXT,
    since TEXT,
    tier TEXT,
    pay_days INTEGER,
    disc_pct REAL,
    "Account Manager" TEXT,
    ref_by INTEGER,
    FOREIGN KEY (ref_by) REFERENCES client (client_id)
);
CREATE TABLE language (
    lang TEXT PRIMARY KEY,
    lname TEXT NOT NULL,
    family TEXT,
    script TEXT,
    rtl INTEGER,
    expn REAL
);
CREATE TABLE translator (
    tid INTEGER PRIMARY KEY,
    given TEXT NOT NULL,
    surname TEXT NOT NULL,
    native TEXT,
    city TEXT,
    country TEXT,
    yob TEXT,
    joined TEXT,
    st TEXT,
    contract TEXT,
    cert TEXT,
    mentor INTEGER,
    FOREIGN KEY (native) REFERENCES language (lang),
    FOREIGN KEY (mentor) REFERENCES translator (tid)
);
CREATE TABLE skill (
    tid INTEGER,
    src TEXT,
    tgt TEXT,
    lvl INTEGER,
    wrate REAL,
    since_yr TEXT,
    PRIMARY KEY (tid, src, tgt),
    FOREIGN KEY (tid) REFERENCES translator (tid),
    FOREIGN KEY (src) REFERENCES language (lang),
    FOREIGN KEY (tgt) REFERENCES language (lang)
);
CREATE TABLE project (
    pid INTEGER PRIMARY KEY,
    client_id INTEGER,
    ptitle TEXT,
    dom TEXT,
    opened DATE,
    due DATE,
    closed DATE,
    st TEXT,
    pm TEXT,
    quote REAL,
    urgent INTEGER,
    remarks TEXT,
    FOREIGN KEY (client_id) REFERENCES client (client_id)
);
CREATE TABLE job (
    job_id INTEGER PRIMARY KEY,
    pid INTEGER,
    tid INTEGER,
    src TEXT,
    tgt TEXT,
    task TEXT,
    words INTEGER,
    wwords INTEGER,
    rate REAL,
    surch INTEGER,
    fee REAL,
    assigned DATE,
    due DATE,
    deliv DATE,
    FOREIGN KEY (pid) REFERENCES project (pid),
    FOREIGN KEY (tid) REFERENCES translator (tid),
    FOREIGN KEY (src) REFERENCES language (lang),
    FOREIGN KEY (tgt) REFERENCES language (lang)
);
CREATE TABLE review (
    rev_id INTEGER PRIMARY KEY,
    job_id INTEGER,
    reviewer INTEGER,
    rdate TEXT,
    score REAL,
    verdict TEXT,
    mins INTEGER,
    note TEXT,
    FOREIGN KEY (job_id) REFERENCES job (job_id),
    FOREIGN KEY (reviewer) REFERENCES translator (tid)
);
CREATE TABLE err (
    err_id INTEGER PRIMARY KEY,
    rev_id INTEGER,
    etype TEXT,
    sev INTEGER,
    pts INTEGER,
    seg INTEGER,
    fixed INTEGER,
    FOREIGN KEY (rev_id) REFERENCES review (rev_id)
);
CREATE TABLE invoice (
    inv_no TEXT PRIMARY KEY,
    pid INTEGER,
    issued TEXT,
    due_on TEXT,
    net REAL,
    vat REAL,
    gross REAL,
    cur TEXT,
    paid_on TEXT,
    rem_sent INTEGER,
    FOREIGN KEY (pid) REFERENCES project (pid)
);
CREATE TABLE glossary (
    term_id INTEGER PRIMARY KEY,
    client_id INTEGER,
    src TEXT,
    tgt TEXT,
    term TEXT,
    transl TEXT,
    appr TEXT,
    added_by INTEGER,
    yr TEXT,
    FOREIGN KEY (client_id) REFERENCES client (client_id),
    FOREIGN KEY (src) REFERENCES language (lang),
    FOREIGN KEY (tgt) REFERENCES language (lang)
);
