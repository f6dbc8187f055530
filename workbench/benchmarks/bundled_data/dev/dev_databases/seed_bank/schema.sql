CREATE TABLE taxon (
    taxon_id INTEGER PRIMARY KEY,
    family TEXT,
    genus TEXT NOT NULL,
    species TEXT NOT NULL,
    infra TEXT,
    crop TEXT,
    common_name TEXT,
    annex1 TEXT,
    sto_beh TEXT,
    dorm INTEGER,
    habit TEXT
);
CREATE TABLE institute (
    inst_code TEXT PRIMARY KEY,
    acronym TEXT,
    "Full Name" TEXT NOT NULL,
    city TEXT,
    country TEXT,
    iso3 TEXT,
    itype TEXT,
    active INTEGER
);
CREATE TABLE staff (
    init TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    post TEXT,
    dept TEXT,
    date_in TEXT,
    date_out TEXT
);
CREATE TABLE vault (
    vcode TEXT PRIMARY KEY,
    vname TEXT,
    kind TEXT,
    temp_c REAL,
    rh REAL,
    inst_code TEXT,
    opened TEXT,
    cap INTEGER,
    FOREIGN KEY (inst_code) REFERENCES institute (inst_code)
);
CREATE TABLE mission (
    mission_no TEXT PRIMARY KEY,
    title TEXT,
    country TEXT,
    start_dt TEXT,
    end_dt TEXT,
    leader TEXT,
    funder TEXT,
    bud_eur REAL,
    spent_eur REAL,
    FOREIGN KEY (leader) REFERENCES staff (init)
);
CREATE TABLE accession (
    ACC_NO TEXT PRIMARY KEY,
    taxon_id INTEGER NOT NULL,
    acc_name TEXT,
    mission_no TEXT,
    donor TEXT,
    donor_no TEXT,
    orig TEXT,
    site TEXT,
    lat REAL,
    lon REAL,
    elev INTEGER,
    colldate TEXT,
    acqdate TEXT,
    sampstat INTEGER,
    collsrc INTEGER,
    mls INTEGER,
    avail INTEGER,
    st TEXT,
    curator TEXT,
    remarks TEXT,
    FOREIGN KEY (taxon_id) REFERENCES taxon (taxon_id),
    FOREIGN KEY (mission_no) REFERENCES mission (mission_no),
    FOREIGN KEY (donor) REFERENCES institute (inst_code),
    FOREIGN KEY (curator) REFERENCES staff (init)
);
CREATE TABLE seed_lot (
    lot_id INTEGER PRIMARY KEY,
    ACC_NO TEXT NOT NULL,
    harv TEXT,
    origin TEXT,
    tgw REAL,
    wt_init REAL,
    wt_bal REAL,
    vcode TEXT,
    shelf TEXT,
    mc REAL,
    dup_vault TEXT,
    regen_eur REAL,
    st TEXT,
    FOREIGN KEY (ACC_NO) REFERENCES accession (ACC_NO),
    FOREIGN KEY (vcode) REFERENCES vault (vcode),
    FOREIGN KEY (dup_vault) REFERENCES vault (vcode)
);
CREATE TABLE germ_test (
    test_id INTEGER PRIMARY KEY,
    lot_id INTEGER NOT NULL,
    sown TEXT,
    days INTEGER,
    n_sown INTEGER,
    n_germ INTEGER,
    n_abn INTEGER,
    n_hard INTEGER,
    pct REAL,
    viab REAL,
    temp TEXT,
    pre TEXT,
    analyst TEXT,
    verdict TEXT,
    FOREIGN KEY (lot_id) REFERENCES seed_lot (lot_id)
);
CREATE TABLE request (
    req_no TEXT PRIMARY KEY,
    inst_code TEXT NOT NULL,
    contact TEXT,
    recd TEXT,
    sent TEXT,
    purpose TEXT,
    st TEXT,
    phyto INTEGER,
    smta TEXT,
    postage REAL,
    officer TEXT,
    FOREIGN KEY (inst_code) REFERENCES institute (inst_code),
    FOREIGN KEY (officer) REFERENCES staff (init)
);
CREATE TABLE request_item (
    req_no TEXT NOT NULL,
    lot_id INTEGER NOT NULL,
    n_req INTEGER,
    n_sent INTEGER,
    reason TEXT,
    PRIMARY KEY (req_no, lot_id),
    FOREIGN KEY (req_no) REFERENCES request (req_no),
    FOREIGN KEY (lot_id) REFERENCES seed_lot (lot_id)
);
