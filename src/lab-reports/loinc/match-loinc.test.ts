// Rows of reports and what they mean in LOINC.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { matchLoinc, type ReportRow, type RowMeaning } from './match-loinc.ts'
import { shippedTerm } from './terms.ts'

const row = (test_name: string, value: string, units: string | null = null, overrides: Partial<ReportRow> = {}): ReportRow => ({
  test_name,
  value,
  units,
  ...overrides,
})
const meaningOf = (...args: Parameters<typeof row>): RowMeaning => matchLoinc([row(...args)])[0]!
const codeOf = (...args: Parameters<typeof row>): string | undefined => meaningOf(...args).loinc_matches[0]?.loinc_code

type Evaluated = { line: string; isRight: boolean; isSure: boolean; codes: string[] }

/** The rows of a file of names with the codes that are right for them. */
function evaluateNames(name: string): Evaluated[] {
  const file = new URL(`../../../test/support/lab-reports/${name}`, import.meta.url)
  const [header, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
  assert.equal(header, 'name\tvalue\tunits\tpanel\tspecimen\tcodes')
  return lines.map((line) => {
    const [test_name = '', value = '', units = '', source_panel_name = '', specimen = '', codes = ''] = line.split('\t')
    const meaning = meaningOf(test_name, value, units, { source_panel_name, specimen })
    const isRight = codes.split('|').includes(meaning.loinc_matches[0]?.loinc_code ?? '')
    return { line, isRight, isSure: meaning.loinc_match_status === 'auto_match', codes: codes.split('|') }
  })
}

const linesOf = (rows: readonly Evaluated[]): string => rows.map(({ line }) => line).join('\n')

test('rows in the style of real reports are matched, and hardly one is matched wrongly without review', () => {
  const rows = evaluateNames('loinc-evaluation.tsv')
  assert.ok(rows.length >= 300, `${rows.length} rows`)
  for (const { line, codes } of rows)
    for (const code of codes) assert.ok(shippedTerm(code), `${line}: ${code} is not in the table`)
  const missed = rows.filter(({ isRight }) => !isRight)
  const wrong = missed.filter(({ isSure }) => isSure)
  const automatic = rows.filter(({ isSure }) => isSure).length
  assert.ok(1 - missed.length / rows.length >= 0.93, linesOf(missed))
  assert.ok(wrong.length < 0.01 * rows.length, linesOf(wrong))
  assert.ok(automatic > 0.8 * rows.length, `${automatic} rows without review`)
})

test('nineteen of twenty names as laboratories in the United States print them are matched without review, and no name wrongly', () => {
  const rows = evaluateNames('loinc-us-names.tsv')
  assert.ok(rows.length >= 170, `${rows.length} rows`)
  const doubted = rows.filter(({ isSure }) => !isSure)
  assert.equal(linesOf(rows.filter(({ isSure, isRight }) => isSure && !isRight)), '')
  assert.ok(doubted.length <= 0.05 * rows.length, linesOf(doubted))
})

const matchOf = (...args: Parameters<typeof row>) => {
  const { loinc_matches, loinc_match_status } = meaningOf(...args)
  return [loinc_matches[0]?.loinc_code, loinc_match_status]
}

test('fractions of serum protein are shares where they are in percent, and concentrations where they are in grams', () => {
  const fractions: [name: string, share: string, concentration: string][] = [
    ['Albumin', '13980-8', '1751-7'],
    ['Alpha-1-Globulin', '13978-2', '2865-4'],
    ['Alpha 2 globulin', '13981-6', '2868-8'],
    ['Beta-1-Globulin', '32732-0', '32730-4'],
    ['Beta 2 globulin', '32733-8', '32731-2'],
    ['Beta globulin', '13982-4', '2871-2'],
    ['Gamma-Globulin', '13983-2', '2874-6'],
  ]
  for (const [name, share, concentration] of fractions) {
    assert.deepEqual([codeOf(name, '10.4', '%'), codeOf(name, '1.1', 'g/dL')], [share, concentration], name)
    assert.deepEqual(meaningOf(name, '10.4', '%').findings, [], name)
  }
})

test('pathogens of panels of nucleic acids are those of their specimen; what cultures report as well asks for review', () => {
  const respiratory = { specimen: 'Nasopharyngeal swab', source_panel_name: 'Respiratory pathogen panel' }
  assert.deepEqual(matchOf('Coronavirus OC43', 'Not Detected', null, respiratory), ['82164-5', 'auto_match'])
  assert.deepEqual(matchOf('Bordetella pertussis', 'Not Detected', null, respiratory), ['82179-3', 'auto_match'])
  const stool = { specimen: 'Stool', source_panel_name: 'Gastrointestinal pathogen panel' }
  assert.deepEqual(matchOf('Norovirus GI/GII', 'Detected', null, stool), ['82211-4', 'auto_match'])
  for (const name of ['Salmonella', 'Campylobacter', 'Vibrio'])
    assert.equal(matchOf(name, 'Not Detected', null, stool)[1], 'needs_review', name)
})

test('words in brackets that are in the names of a term, or that change nothing, need no review; others do', () => {
  assert.deepEqual(matchOf('Carbon Dioxide, Total (Bicarbonate)', '24', 'mmol/L'), ['2028-9', 'auto_match'])
  assert.deepEqual(matchOf('Bilirubin, Direct (Conjugated)', '0.2', 'mg/dL'), ['1968-7', 'auto_match'])
  assert.deepEqual(matchOf('Troponin T, High Sensitivity (Cardiac)', '9', 'ng/L'), ['67151-1', 'auto_match'])
  assert.deepEqual(matchOf('Globulin (Total), Calc', '2.6', 'g/dL'), ['10834-0', 'auto_match'])
  for (const [name, unit] of [
    ['Vitamin D (D3)', 'ng/mL'],
    ['Potassium (Dialysate)', 'mmol/L'],
  ] as const)
    assert.notEqual(matchOf(name, '30', unit)[1], 'auto_match', name)
})

test('letters and short forms behind a name or in brackets say its specimen', () => {
  assert.deepEqual(matchOf('Calcium, Total, S', '9.2', 'mg/dL'), ['17861-6', 'auto_match'])
  assert.deepEqual(matchOf('Ferritin (S)', '88', 'ug/L'), ['2276-4', 'auto_match'])
  assert.deepEqual(matchOf('Leucocytes (E)', '6.1', '/nL'), ['6690-2', 'auto_match'])
  assert.deepEqual(matchOf('E -MCV', '91', 'fL'), ['787-2', 'auto_match'])
  assert.deepEqual(matchOf('Nitrite, UA', 'Negative'), ['5802-4', 'auto_match'])
  assert.deepEqual(matchOf('pH, Ven', '7.33'), ['2746-6', 'auto_match'])
  assert.deepEqual(matchOf('pCO2, Art', '39', 'mmHg'), ['2019-8', 'auto_match'])
  // Urine, and not serum.
  assert.equal(matchOf('Potassium (U)', '45', 'mmol/L')[0], '2828-2')
  assert.notEqual(matchOf('Protein, S', '88', '%')[0], '2885-2')
})

test('a term of any specimen is meant where nothing says the specimen, rather than that of a rare one', () => {
  assert.deepEqual(matchOf('Chlamydia trachomatis, NAA', 'Negative'), ['43304-5', 'auto_match'])
  assert.deepEqual(matchOf('Neisseria gonorrhoeae PCR', 'Negative'), ['24111-7', 'auto_match'])
  assert.equal(matchOf('HPV, high-risk', 'Negative')[1], 'needs_review')
  // Hardly looked for elsewhere than in the throat and the airways.
  assert.deepEqual(matchOf('SARS-CoV-2 RNA', 'Not Detected'), ['94500-6', 'auto_match'])
  assert.deepEqual(matchOf('SARS-CoV-2 (COVID-19) PCR', 'Negative'), ['94500-6', 'auto_match'])
  assert.deepEqual(matchOf('Group A Strep', 'Negative'), ['18481-2', 'auto_match'])
})

test('components that reports do not tell apart are one, of which the most frequent is meant', () => {
  assert.deepEqual(matchOf('HIV-1/2 Antibody', 'Negative'), ['31201-7', 'auto_match'])
  assert.deepEqual(matchOf('Lyme Antibody', 'Negative'), ['20449-5', 'auto_match'])
})

test('a screen of urine under the heading of a panel of blood asks for review', () => {
  for (const name of ['Amphetamines', 'Ketones'])
    assert.equal(matchOf(name, 'Negative', null, { source_panel_name: 'Iron studies' })[1], 'needs_review', name)
  assert.deepEqual(matchOf('Amphetamines', 'Negative', null, { source_panel_name: 'Urine drug screen' }), [
    '19261-7',
    'auto_match',
  ])
})

test('a screen for drugs is one of urine unless its heading says another specimen', () => {
  const match = (source_panel_name: string) => matchOf('Opiates', 'Negative', null, { source_panel_name })
  assert.deepEqual(match('Drugs of Abuse, 9 Panel'), ['19295-5', 'auto_match'])
  for (const heading of ['Drug Screen, Whole Blood', 'Oral Fluid Drug Panel', 'Toxicology Screen, Serum'])
    assert.notDeepEqual(match(heading), ['19295-5', 'auto_match'], heading)
})

test('an interval without a unit is a count of a sediment per field of the microscope', () => {
  const of = { source_panel_name: 'Urinalysis, Complete' }
  assert.deepEqual(matchOf('RBC', '0-2', null, of), ['13945-1', 'auto_match'])
  assert.deepEqual(matchOf('Epithelial Cells (non renal)', '0 - 10', null, of), ['5787-7', 'auto_match'])
  assert.equal(matchOf('RBC', '2', null, of)[1], 'needs_review')
})

test('"red cells" is the measured thing or the specimen, depending on the rest of the name', () => {
  for (const name of ['RBC', 'Red cell count']) assert.deepEqual(matchOf(name, '4.7', 'M/uL'), ['789-8', 'auto_match'], name)
  assert.deepEqual(matchOf('Erythrocyte Sedimentation Rate (ESR)', '8', 'mm/h'), ['4537-7', 'auto_match'])
  assert.equal(matchOf('RBC', '2', '/HPF')[0], '13945-1')
  assert.deepEqual(matchOf('Folate, RBC', '640', 'ng/mL'), ['2283-0', 'auto_match'])
})

test('a method in a name decides between terms that differ by nothing else', () => {
  assert.equal(matchOf('Troponin I High Sens', '6', 'ng/L')[0], '89579-7')
  assert.equal(matchOf('Strep A, Rapid', 'Negative')[0], '78012-2')
  assert.notEqual(matchOf('Influenza A (Rapid Antigen)', 'Negative')[1], 'auto_match')
  assert.deepEqual(matchOf('Rapid Plasma Reagin', 'Non Reactive'), ['20507-0', 'auto_match'])
})

test('urea nitrogen and urea are terms of their own in molar units too', () => {
  assert.deepEqual(matchOf('Blood Urea Nitrogen (BUN)', '4.8', 'mmol/L'), ['14937-7', 'auto_match'])
  assert.deepEqual(matchOf('Urea', '4.8', 'mmol/L'), ['22664-7', 'auto_match'])
})

test('three digits behind a comma are decimals where only they are possible', () => {
  const findings = (name: string, value: string, unit: string | null) =>
    meaningOf(name, value, unit, { specimen: 'Urine' }).findings.map(({ kind }) => kind)
  assert.deepEqual(findings('Specific gravity', '1,020', null), [])
  assert.deepEqual(findings('Specific gravity', '1,420', null), ['outside_human_limits'])
})

test('the unit decides between mass and molar terms', () => {
  assert.equal(codeOf('Glucose', '95', 'mg/dL'), '2345-7')
  assert.equal(codeOf('Glucose', '5.3', 'mmol/L'), '14749-6')
  assert.equal(codeOf('Creatinine', '80', 'µmol/L'), '14682-9')
  assert.equal(codeOf('HbA1c', '38', 'mmol/mol'), '59261-8')
  assert.equal(codeOf('HbA1c', '5.6', '%'), '4548-4')
  assert.equal(codeOf('Leukocytes', '6.1', 'G/L'), '6690-2')
})

test('a row that says nothing of its specimen is not matched with the code of another specimen without review', () => {
  for (const name of ['Lactate', 'Lactic Acid']) {
    assert.deepEqual([codeOf(name, '12.6', 'mg/dL'), codeOf(name, '1.4', 'mmol/L')], ['14118-4', '2524-7'], name)
    const inFluid = meaningOf(name, '12.6', 'mg/dL', { specimen: 'Cerebrospinal fluid' })
    assert.deepEqual([inFluid.loinc_matches[0]!.loinc_code, inFluid.loinc_match_status], ['27941-4', 'auto_match'], name)
  }
  // Terms that the table has for cerebrospinal fluid, body fluids, bone marrow and the cervix alone.
  const names: [string, string, string | null][] = [
    ['Macrophages', '0.2', '10*3/uL'],
    ['Mesothelial cells', '0.1', '10*3/uL'],
    ['CD34 cells', '4', '/uL'],
    ['HPV, high-risk', 'Negative', null],
    ['Oligoclonal bands', 'Negative', null],
  ]
  for (const [name, value, unit] of names) assert.equal(meaningOf(name, value, unit).loinc_match_status, 'needs_review', name)
})

test('without a unit the value decides between terms in whose usual units it is possible or not, and a person confirms it', () => {
  const rows: [name: string, value: string, code: string][] = [
    ['Creatinine', '0.9', '2160-0'],
    ['Creatinine', '88', '14682-9'],
    ['Calcium', '9.5', '17861-6'],
    ['Calcium', '2.4', '2000-8'],
    ['Cholesterol', '190', '2093-3'],
    ['Cholesterol', '5.1', '14647-2'],
    ['HbA1c', '5.4', '4548-4'],
    ['HbA1c', '38', '59261-8'],
  ]
  for (const [name, value, code] of rows) {
    const { loinc_matches, loinc_match_status } = meaningOf(name, value)
    assert.deepEqual([name, value, loinc_matches[0]?.loinc_code, loinc_match_status], [name, value, code, 'needs_review'])
  }
})

test('the unit decides between the count and the percentage of cells', () => {
  assert.equal(codeOf('Lymphocytes', '31', '%'), '736-9')
  assert.equal(codeOf('Lymphocytes', '1.9', '10^3/uL'), '731-0')
  assert.equal(codeOf('Lymphocytes Abs', '1.9', 'K/uL'), '731-0')
})

test('specimen of name, field, panel and page decide between terms', () => {
  for (const more of [{ specimen: 'Urine' }, { sample_type: 'urine' }, { source_panel_name: 'URINALYSIS, COMPLETE' }])
    assert.equal(codeOf('Glucose', 'Negative', null, more), '25428-4', JSON.stringify(more))
  assert.equal(codeOf('Urine Glucose', 'Negative'), '25428-4')
  assert.equal(codeOf('Glucose', '61', 'mg/dL', { specimen: 'CSF' }), '2342-4')
  assert.equal(codeOf('pH', '7.40', null, { source_panel_name: 'Arterial Blood Gas' }), '2744-1')
  const [page] = matchLoinc([row('Creatinine', '110', 'mg/dL')], { specimen: 'Random urine' })
  assert.equal(page!.loinc_matches[0]!.loinc_code, '2161-8')
})

test('rows around a row without a panel tell its specimen', () => {
  const rows = [
    row('Specific gravity', '1.015'),
    row('Nitrite', 'Negative'),
    row('Leukocyte esterase', 'Negative'),
    row('Glucose', 'Negative'),
    row('Protein', 'Negative'),
  ]
  const codes = matchLoinc(rows).map((meaning) => meaning.loinc_matches[0]!.loinc_code)
  assert.deepEqual(codes.slice(3), ['25428-4', '20454-5'])
})

test('a urinalysis whose heading is lost has the terms of urine under any heading, and the rows before and after it do not', () => {
  const urinalysis: [name: string, value: string, code: string][] = [
    ['Colour', 'Yellow', '5778-6'],
    ['Specific gravity', '1.020', '5811-5'],
    ['pH', '5.9', '5803-2'],
    ['Protein', '1+', '20454-5'],
    ['Glucose', '2+', '25428-4'],
    ['Ketones', 'Negative', '2514-8'],
    ['Blood', 'Negative', '5794-3'],
    ['Nitrite', 'Negative', '5802-4'],
    ['Leukocyte esterase', 'Negative', '5799-2'],
  ]
  const blood: [name: string, value: string, unit: string, code: string][] = [
    ['Glucose', '95', 'mg/dL', '2345-7'],
    ['Total protein', '7.0', 'g/dL', '2885-2'],
  ]
  for (const source_panel_name of [null, 'IRON STUDIES', 'Previous (2022']) {
    const ofBlood = blood.map(([name, value, unit]) => row(name, value, unit, { source_panel_name }))
    const ofUrine = urinalysis.map(([name, value]) => row(name, value, null, { source_panel_name }))
    const codes = matchLoinc([...ofBlood, ...ofUrine, ...ofBlood]).map(({ loinc_matches }) => loinc_matches[0]!.loinc_code)
    const [bloodCodes, urineCodes] = [blood.map(([, , , code]) => code), urinalysis.map(([, , code]) => code)]
    assert.deepEqual(codes, [...bloodCodes, ...urineCodes, ...bloodCodes], String(source_panel_name))
  }
})

test('a word, a titer and a number of one test are different terms', () => {
  assert.equal(shippedTerm(codeOf('ANA', 'Negative')!)!.property, 'PrThr')
  assert.equal(shippedTerm(codeOf('ANA', '1:160')!)!.property, 'Titr')
  assert.equal(shippedTerm(codeOf('Hepatitis B surface antibody', '55', 'mIU/mL')!)!.property, 'ACnc')
  assert.equal(shippedTerm(codeOf('Hepatitis B surface antibody', 'Reactive')!)!.property, 'PrThr')
})

test('names are read in any order, spelling and with synonyms in brackets', () => {
  const same: Record<string, string[]> = {
    '2093-3': ['Cholesterol, Total', 'TOTAL CHOLESTEROL', 'Cholesterol (Total)', 'cholesterol total, serum', 'Total-Cholesterol'],
    '718-7': ['Haemoglobin', 'HEMOGLOBIN (Hb)', 'Hgb', 'Hb', '* Hemoglobin:'],
    '1742-6': ['ALT (SGPT)', 'SGPT (ALT)', 'Alanine aminotransferase', 'SGPT/ALT', 'S-ALAT', 'A.L.T.'],
    '2324-2': ['γ-GT', 'Gamma GT', 'GGT', 'Gamma-Glutamyl Transferase'],
  }
  const units: Record<string, string> = { '2093-3': 'mg/dL', '718-7': 'g/dL', '1742-6': 'U/L', '2324-2': 'U/L' }
  for (const [code, names] of Object.entries(same))
    for (const name of names) assert.equal(codeOf(name, '20', units[code]!), code, name)
})

test('characters that recognition confuses cost confidence, so that a person looks', () => {
  for (const [name, code] of [
    ['Cho1esterol', '2093-3'],
    ['Trig1ycerides', '2571-8'],
    ['A1bumin', '1751-7'],
    ['Creatlnine', '2160-0'],
  ] as const) {
    const meaning = meaningOf(name, '4', shippedTerm(code)!.units[0]!)
    assert.equal(meaning.loinc_matches[0]?.loinc_code, code, name)
    assert.equal(meaning.loinc_match_status, 'needs_review', name)
  }
})

test('a match is automatic only with an exact name and an exact unit', () => {
  assert.equal(meaningOf('Glucose', '95', 'mg/dL').loinc_match_status, 'auto_match')
  // Without a unit, mass and molar terms cannot be distinguished.
  assert.equal(meaningOf('Glucose', '95').loinc_match_status, 'needs_review')
  assert.equal(meaningOf('Glucose', '95', 'mg/bottle').loinc_match_status, 'needs_review')
  assert.notEqual(meaningOf('Glucose', '95', 'fL').loinc_match_status, 'auto_match')
  assert.notEqual(meaningOf('Glucose quotient of the moon', '95', 'mg/dL').loinc_match_status, 'auto_match')
})

test('candidates are at most five, best first, with scores from 0 to 1 and a gap before an automatic match', () => {
  for (const name of ['Glucose', 'Protein', 'pH', 'Hemoglobin', 'Bilirubin', 'Chlamydia trachomatis', 'Antibody']) {
    const { loinc_matches: matches, loinc_match_status: status } = meaningOf(name, '5', 'mg/dL')
    assert.ok(matches.length <= 5)
    const scores = matches.map(({ confidence_score }) => confidence_score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    for (const score of scores) assert.ok(score >= 0 && score <= 1)
    if (status === 'auto_match') assert.ok(scores[0]! >= 0.9 && scores[0]! - (scores[1] ?? 0) >= 0.05)
  }
  const [match] = meaningOf('TSH', '2.1', 'mIU/L').loinc_matches
  assert.deepEqual(Object.keys(match!), ['loinc_code', 'loinc_name', 'display_name', 'aliases', 'confidence_score'])
  assert.equal(match!.loinc_name, 'Thyrotropin [Units/volume] in Serum or Plasma')
})

test('texts that are not tests have no match, and hostile names cost bounded time', () => {
  for (const name of ['', '   ', '***', 'Page 1 of 3', '()', '%%%', '((((', 'constructor', '__proto__'])
    assert.notEqual(meaningOf(name, '1', 'mg/dL').loinc_match_status, 'auto_match', name)
  const long = [`${'a'.repeat(100_000)}`, '('.repeat(5_000), 'Glucose '.repeat(10_000), '- / '.repeat(5_000)]
  for (const meaning of matchLoinc(long.map((name) => row(name, '9'.repeat(10_000), 'x'.repeat(10_000)))))
    assert.ok(meaning.loinc_matches.length <= 5)
  assert.throws(() => matchLoinc(Array.from({ length: 5_001 }, () => row('Glucose', '1'))), /at most 5000 rows/)
})

test('the reported rows stay as they are', () => {
  const rows = [row('GLUCOSE', '9500', 'mg/dl'), row('GLUCOSE', '95', 'mg/dl')]
  const before = structuredClone(rows)
  assert.deepEqual(
    matchLoinc(rows).map(({ unit }) => unit?.canonical),
    ['mg/dL', 'mg/dL'],
  )
  assert.deepEqual(rows, before)
})

test('terms of the release come below the shipped ones and always ask for review', () => {
  const unknown = matchLoinc([row('Fictional analyte', '1', 'mg/dL')], { release: new Map() })
  assert.equal(unknown[0]!.loinc_match_status, 'no_match')
  const term = {
    ...shippedTerm('2345-7')!,
    code: '99999-9',
    longName: 'Fictional analyte [Mass/volume] in Serum or Plasma',
    component: 'Fictional analyte',
    aliases: [],
    sharedAliases: ['fictional analyte'],
    displayName: 'Fictional analyte',
    isOfRelease: true,
  }
  const release = new Map(['Fictional analyte', 'Glucose'].map((name) => [name, [term]]))
  const [found] = matchLoinc([row('Fictional analyte', '1', 'mg/dL')], { release })
  assert.equal(found!.loinc_matches[0]!.loinc_code, '99999-9')
  assert.equal(found!.loinc_match_status, 'needs_review')
  const [known] = matchLoinc([row('Glucose', '95', 'mg/dL')], { release })
  assert.equal(known!.loinc_matches[0]!.loinc_code, '2345-7')
})

test('words before brackets, methods and units of D-dimer can forbid an auto match', () => {
  const status = (test_name: string, units: string | null, value = '5') => {
    const [meaning] = matchLoinc([{ test_name, units, value }])
    return { status: meaning!.loinc_match_status, code: meaning!.loinc_matches[0]?.loinc_code }
  }
  assert.notEqual(status('Calculated Thyroxine (T4) Index', 'ug/dL').status, 'auto_match')
  assert.notEqual(status('HCV RT PCR', 'IU/mL').status, 'auto_match')
  assert.notEqual(status('Colour', null, 'Brown').status, 'auto_match')
  assert.notEqual(status('D-Dimer', 'ng/mL DDU').code, '48065-7')
  assert.equal(status('Bilirubin (Direct)', 'mg/dL', '0.2').code, '1968-7')
})

test('the number of an allergen and the unit of its antibodies say the antibody, and a cutoff is no unit of a word', () => {
  const panel = { source_panel_name: 'Food Allergy Profile' }
  assert.equal(meaningOf('Peanut (f13)', '<0.10', 'kU/L', panel).loinc_match_status, 'auto_match')
  assert.equal(codeOf('Peanut (f13)', '<0.10', 'kU/L', panel), '6206-7')
  assert.notEqual(meaningOf('Peanut (f13)', '2.0', 'mcg/mL', panel).loinc_match_status, 'auto_match')
  const ofUrine = { source_panel_name: 'Drug Screen, Urine', sample_type: 'urine' }
  assert.equal(meaningOf('Cocaine Metabolite', 'Negative', 'ng/mL', ofUrine).loinc_match_status, 'auto_match')
  assert.equal(meaningOf('Rubella Antibody, IgG', 'Immune', 'mg/dL').loinc_match_status, 'needs_review')
})

test('cholesterol of lipoproteins is found by the whole names of these', () => {
  const codes = (names: readonly string[]) => names.map((name) => codeOf(name, '3.1', 'mmol/L'))
  assert.deepEqual(
    codes([
      'Serum non high density lipoprotein cholesterol level',
      'Serum high density lipoprotein cholesterol level',
      'Low density lipoprotein cholesterol',
      'Very low density lipoprotein cholesterol',
    ]),
    codes(['Non-HDL cholesterol', 'HDL cholesterol', 'LDL cholesterol', 'VLDL cholesterol']),
  )
})

test('names of everyday reports that say the specimen or the estimation in short are known', () => {
  const names: [name: string, value: string, unit: string | null, code: string][] = [
    ['Haemoglobin estimation', '118', 'g/L', '718-7'],
    ['Mean corpusc. haemoglobin', '26.8', 'pg', '785-6'],
    ['S. Bilirubin (Total)', '1.0', 'mg/dl', '1975-2'],
    ['TC/ HDL Cholesterol Ratio', '4.3', 'Ratio', '9830-1'],
    ['Malarial Parasite', 'Not Seen', null, '32700-7'],
    ['Dengue IgG Antibody', 'Negative', null, '29661-6'],
    ['Dengue IgG', '1:80', null, '6811-4'],
    ['Salmonella Typhi "O"', '1:160', null, '42959-7'],
    ['S. Typhi H', '1:80', null, '42960-5'],
    ['Vitality', '71', '%', '10613-8'],
  ]
  for (const [name, value, unit, code] of names) {
    assert.equal(meaningOf(name, value, unit).loinc_match_status, 'auto_match', name)
    assert.equal(codeOf(name, value, unit), code, name)
  }
  assert.notEqual(codeOf('S. Aureus', 'Isolated', null), '718-7')
  const ofStool = { source_panel_name: 'Stool Analysis' }
  assert.equal(codeOf('Consistency', 'Semi-formed', null, ofStool), '11029-6')
  assert.equal(codeOf('Cysts', 'Not seen', null, ofStool), '10704-5')
  const pair = (...rows: Parameters<typeof row>[]) =>
    matchLoinc(rows.map((values) => row(...values))).map(({ findings }) => findings.length)
  assert.deepEqual(pair(['Ova', 'Not seen', null, ofStool], ['Cysts', 'Seen', null, ofStool]), [0, 0])
  assert.deepEqual(pair(['Ova', 'Not seen', null, ofStool], ['Ova', 'Seen', null, ofStool]), [1, 1])
  assert.deepEqual(pair(['Specific Gravity', '1020', null, { source_panel_name: 'Urine' }]), [0])
  assert.deepEqual(pair(['PT Patient', '13.1', 'Seconds'], ['PT Control', '12.0', 'Seconds']), [0, 0])
  // Neither is likely to be immunoglobulin M.
  assert.deepEqual(pair(['Typhidot IgM', 'Negative', null], ['Chikungunya IgM', 'Positive', null]), [0, 0])
  assert.deepEqual(pair(['Haematocrit', '0.36', null], ['Haemoglobin', '119', null]), [0, 1])
})

test('what has a word that a term has not is something else, and a part of a longer name may be meant', () => {
  const others: Parameters<typeof row>[] = [
    ['Vitamin K1', '0.5', 'ng/mL'],
    ['Interleukin 4', '2.1', 'pg/mL'],
    ['Remnant Cholesterol', '15', 'mg/dL'],
    ['HDL Particle Number', '34', 'umol/L'],
    ['Insulin Resistance Score', '22'],
    ['Systolic Blood Pressure', '120', 'mmHg'],
    ['Trisomy 18', 'Low risk'],
    ['Blastocystis hominis', 'Not detected'],
  ]
  for (const [name, value, units] of others) assert.equal(meaningOf(name, value, units).loinc_match_status, 'no_match', name)
  for (const name of ['Pigweed', 'House Dust Mite', 'Pecan Tree'])
    assert.equal(meaningOf(name, '0.2', 'kU/L').loinc_match_status, 'needs_review', name)
})

test('a part of a ratio, a specimen alone and a term of another quantity are no candidates', () => {
  assert.equal(meaningOf('Copper/Zinc Ratio', '1.1').loinc_match_status, 'no_match')
  assert.equal(meaningOf('FT3/FT4 Ratio', '0.3').loinc_match_status, 'no_match')
  assert.equal(codeOf('SGOT / AST', '22', 'U/L'), '1920-8')
  assert.equal(meaningOf('Blood', 'Absent', null, { source_panel_name: 'Stool' }).loinc_match_status, 'no_match')
  for (const [name, value, units] of [
    ['Estradiol (E2)', '1.9', 'ng/mg'],
    ['DHEA-S', '97', 'ng/mg'],
    ['Testosterone', '5.8', 'ng/mg'],
    ['Fecal Fat', '4', 'g/24h'],
  ] as const)
    assert.equal(meaningOf(name, value, units).loinc_match_status, 'no_match', name)
})

test('a result in words is none of a quantity; a word that is no result leaves the quantity to a person', () => {
  assert.equal(meaningOf('Pregabalin', 'Negative').loinc_match_status, 'no_match')
  assert.equal(meaningOf('Potassium', 'interfering substance').loinc_match_status, 'needs_review')
})

test('an index is a number without a unit', () => {
  assert.deepEqual(matchOf('Free T4 Index', '2.1'), ['32215-6', 'auto_match'])
})

test('units of antibodies against allergens are written with or without their A', () => {
  const panel = { source_panel_name: 'Allergy' }
  assert.deepEqual(matchOf('Peanut (f13)', '0.4', 'kUA/L', panel), matchOf('Peanut (f13)', '0.4', 'kU/L', panel))
  assert.equal(matchOf('Peanut (f13)', '0.4', 'kUA/L', panel)[1], 'auto_match')
})

test('a name that is known to have no term has no candidate, and the numbers of notes behind a name change nothing', () => {
  const names: Parameters<typeof row>[] = [
    ['Large HDL-P', '6.1', 'umol/L'],
    ['HDL-P (Total)', '31.2', 'umol/L'],
    ['LP-IR Score', '66'],
    ['Vitamin B12 (active)', '88', 'pmol/L'],
    ['PT Control', '12.0', 'Seconds'],
    ['Non Motile', '30', '%', { source_panel_name: 'Semen Analysis' }],
  ]
  for (const values of names) {
    const { loinc_match_status, loinc_matches, findings } = meaningOf(...values)
    assert.deepEqual([loinc_match_status, loinc_matches, findings], ['no_match', [], []], values[0])
  }
  assert.equal(codeOf('Vitamin B12', '88', 'pmol/L'), '14685-2')
  assert.equal(meaningOf('TSH 02', '2.140', 'uIU/mL').loinc_match_status, 'needs_review')
})

test('initials and other names of the same test in brackets leave a name exact, and other words in brackets do not', () => {
  const panel = { source_panel_name: 'Allergy / Immunology' }
  assert.deepEqual(matchOf('Malarial Parasite (M.P.)', 'Not seen'), ['32700-7', 'auto_match'])
  assert.equal(matchOf('Malarial Parasite (P.V.)', 'Not seen')[1], 'needs_review')
  assert.deepEqual(matchOf('LIPOPROTEIN (A) [LP(A)]', '18.6', 'mg/dL'), ['10835-7', 'auto_match'])
  assert.deepEqual(matchOf('Tryptase', '4.1', 'ug/L', panel), ['21582-2', 'auto_match'])
  assert.deepEqual(matchOf('Random Blood Sugar', '168', 'mgs%'), ['2345-7', 'auto_match'])
})

test('units of activity and amounts of substance have terms of their own', () => {
  assert.deepEqual(matchOf('Alpha Fetoprotein (AFP)', '2.66', 'IU/mL'), ['19176-7', 'auto_match'])
  assert.deepEqual(matchOf('Anti-Mullerian Hormone', '14.2', 'pmol/L'), ['48377-6', 'auto_match'])
  assert.deepEqual(matchOf('Magnesium, RBC', '5.1', 'mg/dL'), ['26746-8', 'auto_match'])
  assert.deepEqual(matchOf('Cotinine', '57', 'nmol/L', { specimen: 'Serum' }), ['59891-2', 'auto_match'])
})

test('a rate of sedimentation may be in millimeters, and a word may have the unit of its test strip', () => {
  assert.deepEqual(matchOf('ESR (1 Hour)', '18', 'mm'), ['4537-7', 'auto_match'])
  assert.deepEqual(matchOf('Glucose', 'Negative', 'mg/dL', { source_panel_name: 'Urinalysis' }), ['25428-4', 'auto_match'])
  assert.deepEqual(matchOf('S-C-reactive protein', '86', 'mg/L'), ['1988-5', 'auto_match'])
  assert.deepEqual(matchOf('S-Anion gap (incl. K)', '15', 'mmol/L'), ['1863-0', 'auto_match'])
})
