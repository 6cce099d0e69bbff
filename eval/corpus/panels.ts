// Which analytes laboratories report together, and the headings they print above them.

export interface Panel {
  us: string
  uk: string
  india: string
  sample: string
  analytes: string[]
}

const panel = (titles: [us: string, uk: string, india: string], sample: string, analytes: string): Panel => ({
  us: titles[0],
  uk: titles[1],
  india: titles[2],
  sample,
  analytes: analytes.split(' '),
})

const RED = 'rbc hemoglobin hematocrit mcv mch mchc rdw platelets'
const SHARES = 'neutrophils_pct lymphocytes_pct monocytes_pct eosinophils_pct basophils_pct'
const COUNTS = 'neutrophils_abs lymphocytes_abs monocytes_abs eosinophils_abs basophils_abs'
const STRIP =
  'ua_color ua_appearance specific_gravity urine_ph ua_protein ua_glucose ua_ketones ua_blood ua_bilirubin ua_urobilinogen ua_nitrite ua_leukocyte_esterase'

export const panels = {
  cmp: panel(
    ['Comp. Metabolic Panel (14)', 'Biochemistry profile', 'BIOCHEMISTRY PROFILE'],
    'Serum',
    'glucose bun creatinine egfr bun_creatinine sodium potassium chloride co2 calcium protein_total albumin globulin ag_ratio bilirubin_total alp ast alt',
  ),
  bmp: panel(
    ['Basic Metabolic Panel', 'Urea and electrolytes', 'RENAL PROFILE'],
    'Serum',
    'glucose bun creatinine egfr sodium potassium chloride co2 anion_gap calcium',
  ),
  renal: panel(
    ['Renal Function Panel', 'Renal profile', 'KIDNEY FUNCTION TEST (KFT)'],
    'Serum',
    'urea creatinine uric_acid sodium potassium chloride calcium phosphorus',
  ),
  electrolytes: panel(['Electrolyte Panel', 'Electrolytes', 'SERUM ELECTROLYTES'], 'Serum', 'sodium potassium chloride co2'),
  liver: panel(
    ['Hepatic Function Panel (7)', 'Liver function tests', 'LIVER FUNCTION TEST (LFT)'],
    'Serum',
    'protein_total albumin bilirubin_total bilirubin_direct bilirubin_indirect alp ast alt ggt',
  ),
  lipids: panel(
    ['Lipid Panel', 'Lipid profile', 'LIPID PROFILE'],
    'Serum',
    'cholesterol triglycerides hdl ldl vldl non_hdl chol_hdl',
  ),
  lipids_advanced: panel(['Lipoprotein Markers', 'Apolipoproteins', 'APOLIPOPROTEINS'], 'Serum', 'apo_b apo_a1 lp_a'),
  cbc: panel(
    ['CBC With Differential/Platelet', 'Full blood count', 'COMPLETE BLOOD COUNT (CBC)'],
    'Whole Blood',
    `wbc ${RED} ${SHARES} ${COUNTS}`,
  ),
  cbc_shares: panel(
    ['Complete Blood Count', 'Full blood count', 'HAEMOGRAM'],
    'Whole Blood EDTA',
    `hemoglobin rbc hematocrit mcv mch mchc rdw wbc ${SHARES} platelets mpv`,
  ),
  cbc_counts: panel(
    ['CBC', 'Full blood count', 'COMPLETE HAEMOGRAM'],
    'EDTA Blood',
    `hemoglobin wbc platelets rbc hematocrit mcv mch ${COUNTS}`,
  ),
  thyroid: panel(['Thyroid Panel With TSH', 'Thyroid function tests', 'THYROID PROFILE'], 'Serum', 'tsh t4_free t3_free'),
  thyroid_total: panel(['Thyroid Profile', 'Thyroid function tests', 'THYROID PROFILE TOTAL'], 'Serum', 't3_total t4_total tsh'),
  thyroid_antibodies: panel(['Thyroid Antibodies', 'Thyroid antibodies', 'THYROID ANTIBODIES'], 'Serum', 'tpo_ab tg_ab'),
  iron: panel(['Iron and TIBC', 'Iron studies', 'IRON STUDIES'], 'Serum', 'iron tibc transferrin_saturation ferritin'),
  vitamins: panel(['Vitamins', 'Haematinics', 'VITAMIN PROFILE'], 'Serum', 'b12 folate vitamin_d'),
  diabetes: panel(['Hemoglobin A1c', 'Diabetes monitoring', 'DIABETES PROFILE'], 'Whole Blood', 'hba1c eag'),
  insulin: panel(['Insulin and C-Peptide', 'Insulin studies', 'INSULIN STUDIES'], 'Serum', 'insulin c_peptide'),
  hormones: panel(
    ['Hormone Panel', 'Endocrinology', 'HORMONE ASSAYS'],
    'Serum',
    'testosterone_total testosterone_free shbg estradiol fsh lh prolactin dhea_s',
  ),
  adrenal: panel(['Adrenal Function', 'Adrenal studies', 'ADRENAL PROFILE'], 'Serum', 'cortisol acth dhea_s'),
  bone: panel(
    ['Bone Metabolism', 'Bone profile', 'BONE PROFILE'],
    'Serum',
    'calcium phosphorus alp albumin magnesium vitamin_d pth',
  ),
  inflammation: panel(['Inflammation Markers', 'Inflammatory markers', 'INFLAMMATION MARKERS'], 'Serum', 'esr crp ferritin'),
  cardiac: panel(['Cardiac Markers', 'Cardiac markers', 'CARDIAC RISK MARKERS'], 'Serum', 'hs_crp homocysteine lp_a ck ldh'),
  cardiac_acute: panel(['Cardiac Enzymes', 'Cardiac enzymes', 'CARDIAC ENZYMES'], 'Plasma', 'troponin_t ck nt_pro_bnp d_dimer'),
  coagulation: panel(['Coagulation', 'Clotting screen', 'COAGULATION PROFILE'], 'Citrated Plasma', 'pt inr aptt fibrinogen'),
  pancreas: panel(['Pancreatic Enzymes', 'Pancreatic enzymes', 'PANCREATIC ENZYMES'], 'Serum', 'amylase lipase'),
  tumor: panel(['Tumor Markers', 'Tumour markers', 'TUMOUR MARKERS'], 'Serum', 'psa psa_free cea ca199 afp ca125'),
  immunology: panel(
    ['Immunoglobulins', 'Immunoglobulins', 'IMMUNOGLOBULINS'],
    'Serum',
    'iga igg igm ige complement_c3 complement_c4',
  ),
  rheumatology: panel(
    ['Rheumatology', 'Autoimmune screen', 'ARTHRITIS PROFILE'],
    'Serum',
    'rheumatoid_factor ccp crp uric_acid ana ana_titer',
  ),
  celiac: panel(['Celiac Screen', 'Coeliac screen', 'COELIAC SCREEN'], 'Serum', 'ttg_iga iga'),
  metals: panel(['Trace Elements', 'Trace elements', 'TRACE ELEMENTS'], 'Serum', 'zinc copper selenium magnesium ceruloplasmin'),
  drugs: panel(['Therapeutic Drug Monitoring', 'Drug levels', 'DRUG LEVELS'], 'Serum', 'digoxin lithium vancomycin'),
  gas: panel(
    ['Blood Gas, Arterial', 'Arterial blood gas', 'ARTERIAL BLOOD GAS'],
    'Arterial Blood',
    'ph_arterial pco2 po2 base_excess lactate',
  ),
  microalbumin: panel(
    ['Microalb/Creat Ratio, Randm Ur', 'Urine albumin', 'MICROALBUMIN, SPOT URINE'],
    'Urine',
    'urine_albumin urine_creatinine acr',
  ),
  urinalysis: panel(['Urinalysis, Routine', 'Urinalysis', 'URINE EXAMINATION'], 'Urine', STRIP),
  urinalysis_micro: panel(
    ['Urinalysis, Complete', 'Urine microscopy', 'URINE ROUTINE & MICROSCOPY'],
    'Urine',
    `${STRIP} ua_wbc ua_rbc ua_epithelial ua_bacteria ua_casts ua_crystals`,
  ),
  hepatitis: panel(['Hepatitis Panel', 'Hepatitis serology', 'HEPATITIS SCREEN'], 'Serum', 'hbsag hbsab hcv'),
  serology: panel(['Infectious Disease Serology', 'Virology', 'SEROLOGY'], 'Serum', 'hiv hbsag hcv rpr'),
  sexual_health: panel(['Ct/Ng, NAA', 'Sexual health screen', 'STD PROFILE'], 'Urine', 'chlamydia gonorrhoeae treponema hiv'),
  respiratory: panel(
    ['Respiratory Virus Panel, NAA', 'Respiratory PCR', 'RESPIRATORY PANEL'],
    'Swab',
    'covid influenza_a influenza_b',
  ),
  fever: panel(['Fever Panel', 'Tropical fever screen', 'FEVER PANEL'], 'Blood', 'dengue_ns1 malaria crp'),
  stool: panel(['Stool Tests', 'Faecal tests', 'STOOL EXAMINATION'], 'Stool', 'fobt h_pylori'),
  blood_group: panel(
    ['Type and Screen', 'Blood group and antibody screen', 'BLOOD GROUPING'],
    'Whole Blood',
    'abo rh antibody_screen',
  ),
  culture: panel(['Microbiology', 'Microbiology', 'MICROBIOLOGY'], 'Urine', 'urine_culture'),
  blood_cultures: panel(['Blood Cultures', 'Blood cultures', 'BLOOD CULTURE'], 'Blood', 'blood_culture'),
  toxicology: panel(
    ['Drug Screen, Urine', 'Urine drug screen', 'DRUGS OF ABUSE'],
    'Urine',
    'amphetamines cannabinoids cocaine opiates',
  ),
  antenatal: panel(
    ['Prenatal Panel', 'Antenatal bloods', 'ANTENATAL PROFILE'],
    'Blood',
    'hemoglobin abo rh rubella_igg hbsag hiv hcg_qual',
  ),
} satisfies Record<string, Panel>

export type PanelKey = keyof typeof panels
