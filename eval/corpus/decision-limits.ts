// Classes of clinical decision, remarks and interpretations: text that laboratories print near results and that is no result.

/** Lines that stand in place of a range. */
export const decisionLimits: Record<string, string[]> = {
  hba1c: ['Non-diabetic: <5.7', 'Prediabetes: 5.7-6.4', 'Diabetes: >=6.5'],
  vitamin_d: ['Deficiency: < 20', 'Insufficiency: 20 - 29', 'Sufficiency: 30 - 100'],
  cholesterol: ['Desirable: <200', 'Borderline High: 200-239', 'High: >=240'],
  triglycerides: ['Normal: <150', 'Borderline High: 150-199', 'High: 200-499'],
  ldl: ['Optimal: <100', 'Near Optimal: 100-129', 'Borderline High: 130-159', 'High: 160-189'],
  crp: ['Low risk: <1.0', 'Average risk: 1.0-3.0', 'High risk: >3.0'],
}

export const remarks = [
  'Result confirmed by repeat analysis.',
  'Specimen slightly hemolyzed; interpret with caution.',
  'Please correlate clinically.',
  'Reference interval changed; see the bulletin of this laboratory.',
  'Fasting status not given by the requester.',
]

/** Texts after a panel, by an analyte that it holds. They name numbers and units on purpose. */
export const interpretations: Record<string, string> = {
  egfr: 'The estimated GFR is calculated with the CKD-EPI 2021 equation. Values above 60 mL/min/1.73m2 without other evidence of kidney damage do not indicate chronic kidney disease. Values below 15 mL/min are compatible with kidney failure.',
  ldl: 'LDL cholesterol is calculated with the Friedewald formula when triglycerides are below 400 mg/dL. For people with diabetes the goal is below 70 mg/dL, and a fasting specimen of 9 to 12 hours is preferred.',
  hba1c:
    'HbA1c reflects the mean glucose of the past 8 to 12 weeks. A goal of less than 7.0 % is reasonable for many adults who are not pregnant. Anemia, transfusion and variants of hemoglobin affect the result.',
  tsh: 'TSH has a diurnal rhythm: values are highest between 2 and 4 a.m. and lowest between 6 and 10 p.m.; the variation may reach 50 %. In pregnancy: first trimester 0.10 - 2.50, second 0.20 - 3.00, third 0.30 - 3.00.',
  vitamin_d:
    'Vitamin D deficiency has been defined as a level of serum 25-OH vitamin D below 20 ng/mL. Insufficiency is a level between 21 and 29 ng/mL. Toxicity is seen above 150 ng/mL.',
  hemoglobin:
    'Haemoglobin is the protein of red cells that carries oxygen. Low values suggest anaemia; iron, vitamin B12 and folate should then be checked within 2 to 4 weeks.',
  hbsag: 'A negative result does not exclude recent exposure. Repeat the test after 4 to 6 weeks if infection is suspected.',
  psa: 'PSA below 4.0 ng/mL is found in 85 % of men without disease of the prostate. About 25 % of men with values from 4 to 10 have cancer.',
  crp: 'CRP rises within 6 to 12 hours of an inflammatory stimulus and peaks after 48 hours. Its half-life is about 19 hours.',
  alt: 'ALT is more specific for the liver than AST. An AST/ALT ratio above 2 suggests alcoholic liver disease.',
}

/** Tables after a panel: title, header, rows. */
export const guidelines: Record<string, { title: string; rows: string[][] }> = {
  ldl: {
    title: 'NCEP recommendations',
    rows: [
      ['', 'Total Cholesterol', 'Triglycerides', 'LDL Cholesterol'],
      ['Optimal', '< 200', '< 150', '< 100'],
      ['Borderline High', '200 - 239', '150 - 199', '130 - 159'],
      ['High', '>= 240', '200 - 499', '160 - 189'],
      ['Very High', '-', '>= 500', '>= 190'],
    ],
  },
  hba1c: {
    title: 'Mean glucose by HbA1c',
    rows: [
      ['HbA1c (%)', 'Mean plasma glucose (mg/dL)'],
      ['6', '126'],
      ['7', '154'],
      ['8', '183'],
      ['9', '212'],
    ],
  },
  tsh: {
    title: 'TSH in pregnancy',
    rows: [
      ['Trimester', 'Reference range (uIU/mL)'],
      ['First', '0.10 - 2.50'],
      ['Second', '0.20 - 3.00'],
      ['Third', '0.30 - 3.00'],
    ],
  },
  egfr: {
    title: 'Stages of chronic kidney disease',
    rows: [
      ['Stage', 'GFR (mL/min/1.73m2)', 'Description'],
      ['G1', '>= 90', 'Normal or high'],
      ['G2', '60 - 89', 'Mildly decreased'],
      ['G3a', '45 - 59', 'Mildly to moderately decreased'],
      ['G4', '15 - 29', 'Severely decreased'],
    ],
  },
  vitamin_d: {
    title: '25-Hydroxyvitamin D levels',
    rows: [
      ['Status', 'ng/mL', 'nmol/L'],
      ['Deficient', '< 20', '< 50'],
      ['Insufficient', '20 - 29', '50 - 74'],
      ['Sufficient', '30 - 100', '75 - 250'],
    ],
  },
}
