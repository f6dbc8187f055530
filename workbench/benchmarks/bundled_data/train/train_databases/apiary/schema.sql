CREATE TABLE beekeeper (
    mem_no INTEGER PRIMARY KEY,
    fname TEXT NOT NULL,
    sname TEXT NOT NULL,
    town TEXT,
    yob INTEGER,
    joined TEXT NOT NULL,
    lapsed TEXT,
    cat TEXT NOT NULL,
    grade TEXT,
    mentor_no INTEGER,
    role TEXT,
    n_col INTEGER,
    email TEXT,
    FOREIGN KEY (mentor_no) REFERENCES beekeeper (mem_no)
);
CREATE TABLE apiary (
    ap_id INTEGER PRIMARY KEY,
    ap_name TEXT,
    mem_no INTEGER NOT NULL,
    parish TEXT,
    grid TEXT,
    alt_m INTEGER,
    est INTEGER,
    oa TEXT,
    landowner TEXT,
    aspect TEXT,
    "Max hives" INTEGER,
    access TEXT,
    FOREIGN KEY (mem_no) REFERENCES beekeeper (mem_no)
);
CREATE TABLE hive (
    hive_id INTEGER PRIMARY KEY,
    ap_id INTEGER NOT NULL,
    tag TEXT NOT NULL,
    type TEXT,
    yr INTEGER,
    acq TEXT,
    src TEXT,
    st TEXT NOT NULL,
    lost_dt DATE,
    floor TEXT,
    paint TEXT,
    FOREIGN KEY (ap_id) REFERENCES apiary (ap_id)
);
CREATE TABLE queen (
    q_id INTEGER PRIMARY KEY,
    hive_id INTEGER NOT NULL,
    hatched INTEGER,
    col TEXT,
    clip INTEGER,
    race TEXT,
    breeder TEXT,
    mother INTEGER,
    intro DATE,
    out_dt DATE,
    fate TEXT,
    FOREIGN KEY (hive_id) REFERENCES hive (hive_id),
    FOREIGN KEY (mother) REFERENCES queen (q_id)
);
CREATE TABLE inspection (
    insp_id INTEGER PRIMARY KEY,
    hive_id INTEGER NOT NULL,
    by_no INTEGER,
    dt TEXT NOT NULL,
    wx TEXT,
    tc INTEGER,
    brood INTEGER,
    stores INTEGER,
    temper INTEGER,
    q_seen TEXT,
    q_cells INTEGER,
    drop24 REAL,
    dz TEXT,
    remarks TEXT,
    FOREIGN KEY (hive_id) REFERENCES hive (hive_id)
);
CREATE TABLE product (
    prod_id INTEGER PRIMARY KEY,
    pname TEXT NOT NULL,
    active TEXT,
    target TEXT,
    wd_days INTEGER,
    unit TEXT,
    price REAL,
    lic TEXT
);
CREATE TABLE treatment (
    trt_id INTEGER PRIMARY KEY,
    hive_id INTEGER NOT NULL,
    prod_id INTEGER NOT NULL,
    start_dt DATE NOT NULL,
    end_dt DATE,
    plan_d INTEGER,
    dose REAL,
    batch TEXT,
    FOREIGN KEY (hive_id) REFERENCES hive (hive_id),
    FOREIGN KEY (prod_id) REFERENCES product (prod_id)
);
CREATE TABLE harvest (
    hrv_id INTEGER PRIMARY KEY,
    hive_id INTEGER NOT NULL,
    dt DATE NOT NULL,
    honey TEXT,
    gross_kg REAL,
    net_kg REAL,
    water REAL,
    frames INTEGER,
    price_kg REAL,
    FOREIGN KEY (hive_id) REFERENCES hive (hive_id)
);
CREATE TABLE plant (
    plant_id INTEGER PRIMARY KEY,
    common TEXT NOT NULL,
    latin TEXT,
    from_m INTEGER,
    to_m INTEGER,
    nec INTEGER,
    pol INTEGER,
    pol_col TEXT,
    native TEXT
);
CREATE TABLE ap_forage (
    ap_id INTEGER NOT NULL,
    plant_id INTEGER NOT NULL,
    dist_m INTEGER,
    cover TEXT,
    PRIMARY KEY (ap_id, plant_id),
    FOREIGN KEY (ap_id) REFERENCES apiary (ap_id),
    FOREIGN KEY (plant_id) REFERENCES plant (plant_id)
);
