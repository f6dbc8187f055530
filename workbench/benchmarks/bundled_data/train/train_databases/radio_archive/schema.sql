CREATE TABLE series (
    sid INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    genre TEXT NOT NULL,
    stn TEXT NOT NULL,
    yr_from TEXT NOT NULL,
    yr_to TEXT,
    dept TEXT,
    n_eps INTEGER
);
CREATE TABLE episode (
    ep_id INTEGER PRIMARY KEY,
    sid INTEGER NOT NULL,
    ep_no INTEGER,
    ep_title TEXT NOT NULL,
    rec TEXT,
    tx TEXT,
    slot_min INTEGER,
    dur_s INTEGER,
    st TEXT NOT NULL,
    lang TEXT,
    "Audience (k)" REAL,
    ai INTEGER,
    note TEXT,
    FOREIGN KEY (sid) REFERENCES series (sid)
);
CREATE TABLE contributor (
    cid INTEGER PRIMARY KEY,
    surname TEXT NOT NULL,
    forename TEXT,
    pro TEXT,
    sex TEXT,
    b_yr TEXT,
    d_yr TEXT,
    town TEXT,
    equity_no TEXT
);
CREATE TABLE credit (
    ep_id INTEGER NOT NULL,
    cid INTEGER NOT NULL,
    role TEXT NOT NULL,
    gross REAL,
    net REAL,
    billed INTEGER,
    part TEXT,
    PRIMARY KEY (ep_id, cid, role),
    FOREIGN KEY (ep_id) REFERENCES episode (ep_id),
    FOREIGN KEY (cid) REFERENCES contributor (cid)
);
CREATE TABLE staff (
    sno INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    post TEXT,
    unit TEXT,
    since TEXT,
    boss INTEGER,
    FOREIGN KEY (boss) REFERENCES staff (sno)
);
CREATE TABLE carrier (
    bc TEXT PRIMARY KEY,
    ep_id INTEGER,
    kind TEXT NOT NULL,
    gen TEXT NOT NULL,
    ips REAL,
    stock TEXT,
    gr INTEGER,
    defect TEXT,
    room TEXT,
    shelf TEXT,
    acq TEXT,
    src TEXT,
    ins_val REAL,
    gone TEXT,
    remarks TEXT,
    FOREIGN KEY (ep_id) REFERENCES episode (ep_id)
);
CREATE TABLE transfer (
    xid INTEGER PRIMARY KEY,
    bc TEXT NOT NULL,
    eng INTEGER,
    dt TEXT,
    kHz REAL,
    bits INTEGER,
    mb REAL,
    hrs REAL,
    res TEXT,
    qc INTEGER,
    FOREIGN KEY (bc) REFERENCES carrier (bc),
    FOREIGN KEY (eng) REFERENCES staff (sno)
);
CREATE TABLE rights (
    rid INTEGER PRIMARY KEY,
    ep_id INTEGER NOT NULL,
    holder TEXT,
    kind TEXT,
    terr TEXT,
    frm TEXT,
    until TEXT,
    clr TEXT,
    fee REAL,
    FOREIGN KEY (ep_id) REFERENCES episode (ep_id)
);
CREATE TABLE borrower (
    bid INTEGER PRIMARY KEY,
    org TEXT NOT NULL,
    cat TEXT,
    town TEXT,
    ctry TEXT,
    since TEXT,
    ok INTEGER
);
CREATE TABLE loan (
    lid INTEGER PRIMARY KEY,
    bc TEXT NOT NULL,
    bid INTEGER NOT NULL,
    out_dt TEXT NOT NULL,
    due_dt TEXT NOT NULL,
    back_dt TEXT,
    purpose TEXT,
    chg_net REAL,
    vat REAL,
    chg_gross REAL,
    issued_by INTEGER,
    FOREIGN KEY (bc) REFERENCES carrier (bc),
    FOREIGN KEY (bid) REFERENCES borrower (bid)
);
