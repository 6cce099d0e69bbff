// Checks the sandbox catalog data: every reference resolves, every value is realistic, every LOINC code exists.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { parseCsv } from '../../platform/files/csv.ts'
import aoe from './data/aoe.json' with { type: 'json' }
import labTests from './data/lab-tests.json' with { type: 'json' }
import labs from './data/labs.json' with { type: 'json' }

type Row = Record<string, string>
interface Question {
  id: number
  code: string
  value: string
  type: string
  sequence: number
  answers: { id: number; code: string }[]
  constraint: string | null
}

const folder = new URL('./data/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const words = (text = '') => text.split(' ').filter(Boolean)
const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

const analyteColumns = words(
  'slug name loinc loinc_name unit type decimals low high low_female high_female low_male high_male critical_low critical_high ' +
    'range_text specimen description',
)
const markerColumns = words(
  'id lab provider_id name slug type analytes optional_analytes price a_la_carte_enabled is_orderable common_tat_days ' +
    'worst_case_tat_days description aoe',
)
const labSlugs = words(
  'ayumetrix spiriplex ussl quest sonora_quest labcorp bioreference us_biotek manual sanocardio ihd nexus my_uti crl mtl',
)
const bigLabs = words('quest labcorp bioreference sonora_quest')
const methods = words('testkit walk_in_test at_home_phlebotomy on_site_collection')
const sampleTypes = words('dried_blood_spot arm_collector serum saliva urine stool')
const blood = words('serum whole_blood capillary_blood')
const units = words(
  `% /[HPF] /[LPF] 10*3/uL 10*6/uL U/L [IU]/L [IU]/mL [arb'U]/mL [pH] fL g/(24.h) g/dL k[IU]/L mL mL/min mL/min/{1.73_m2} m[IU]/mL ` +
    `mg/(24.h) mg/L mg/dL mg/g{creat} mm/h mmol/L mosm/kg ng/L ng/dL ng/mL ng/mL/h nmol/L pg pg/mL s u[IU]/mL ug/L ug/dL ug/g ug/mL ` +
    `ug/mL{FEU} umol/L {INR} {copies}/mL {index} {ratio} {titer}`,
)

const analytes = parseCsv(read('analytes.csv'))
const markers = parseCsv(read('markers.csv'))
const analyteOf = new Map(analytes.map((row) => [row.slug, row]))
const questionSets: Record<string, Question[]> = aoe
const labOf = new Map(labs.map((lab) => [lab.slug, lab]))
const markerOf = new Map(markers.map((row) => [`${row.lab} ${row.provider_id}`, row]))
const requiredAnalytes = (marker: Row) => words(marker.analytes)
const reportedAnalytes = (marker: Row) => [...requiredAnalytes(marker), ...words(marker.optional_analytes)]
const reflexes = markers.filter((row) => row.is_orderable === 'false')

function assertDistinct<Item>(subject: string, items: readonly Item[], keyOf: (item: Item) => unknown = (item) => item): void {
  const values = items.map(keyOf)
  const repeated = values.filter((value, index) => values.indexOf(value) !== index)
  assert.deepEqual(repeated, [], `repeated ${subject}`)
}

test('the catalog has the expected number of rows and every file stays small', () => {
  assert.ok(analytes.length >= 150 && analytes.filter((row) => row.loinc).length >= 120, `${analytes.length} analytes`)
  assert.ok(markers.length >= 320 && reflexes.length >= 8, `${markers.length} markers`)
  for (const lab of bigLabs) assert.ok(markers.filter((row) => row.lab === lab).length >= 45, lab)
  for (const name of readdirSync(folder)) assert.ok(statSync(new URL(name, folder)).size < 300_000, name)
})

test('the LOINC notice is next to the data', () => {
  const sentences = read('LOINC-NOTICE.txt')
    .trimEnd()
    .split(/(?<=\.) (?=LOINC)/)
  assert.equal(sentences.length, 3)
  assert.match(sentences[0]!, /^This material contains content from LOINC \(http:\/\/loinc\.org\)\.$/)
  assert.match(sentences[1]!, /^LOINC is copyright \(c\) .* at no cost under the license at http:\/\/loinc\.org\/license\.$/)
  assert.match(sentences[2]!, /^LOINC\(R\) is a registered United States trademark of Regenstrief Institute, Inc\.$/)
})

test('every analyte is complete and its texts have the right type', () => {
  assert.deepEqual(Object.keys(analytes[0]!), analyteColumns)
  assertDistinct('slug', analytes, (row) => row.slug)
  for (const row of analytes) {
    const { slug = '', unit = '', type = '', specimen = '' } = row
    assert.match(slug, slugPattern)
    assert.ok(row.name, slug)
    assert.ok(words('numeric range comment').includes(type), slug)
    assert.ok(unit === '' || units.includes(unit), `${slug}: ${unit}`)
    assert.ok([...blood, 'urine', 'saliva', 'stool'].includes(specimen), slug)
    assert.match(row.description!, /^[A-Z].*[^.]\.$/, slug)
    assert.equal(row.loinc === '', row.loinc_name === '', slug)
    const hasReference = !words('abo-group rh-type ana-pattern').includes(slug)
    assert.equal(row.range_text !== '', type === 'comment' && hasReference, slug)
  }
  const unused = units.filter((unit) => !analytes.some((row) => row.unit === unit))
  assert.deepEqual(unused, [], 'unit no analyte has')
})

test('limits have the decimals of their analyte, low is below high, and panic values lie outside', () => {
  for (const row of analytes) {
    const { slug, type, decimals = '' } = row
    const printed = Object.entries(row).filter(([column, value]) => /^(low|high|critical)/.test(column) && value !== '')
    if (type === 'comment') {
      assert.deepEqual([decimals, ...printed], [''], slug)
      continue
    }
    assert.match(decimals, /^[0-3]$/, slug)
    for (const [column, value] of printed) assert.equal(value, Number(value).toFixed(Number(decimals)), `${slug} ${column}`)
    const columns = printed.map(([column]) => column).filter((column) => !column.startsWith('critical'))
    assert.ok(new Set(columns.map((column) => column.endsWith('male'))).size < 2, `${slug}: limits both with and without sex`)
    for (const sex of ['', '_female', '_male']) {
      const texts = [row.critical_low, row[`low${sex}`], row[`high${sex}`], row.critical_high].filter(Boolean)
      const rising = texts.every((text, index) => index === 0 || Number(texts[index - 1]) < Number(text))
      assert.ok(rising, `${slug}: ${texts.join(' < ')}`)
    }
  }
})

test('every LOINC code has a valid check digit', () => {
  for (const { slug, loinc } of analytes) {
    if (!loinc) continue
    const [, body = '', digit] = /^([1-9]\d{0,6})-(\d)$/.exec(loinc) ?? []
    assert.ok(body, `${slug}: ${loinc}`)
    const doubled = [...body].toReversed().map((text, index) => (index % 2 === 0 ? String(Number(text) * 2) : text))
    const sum = [...doubled.join('')].reduce((total, text) => total + Number(text), 0)
    assert.equal(Number(digit), (10 - (sum % 10)) % 10, `${slug}: ${loinc}`)
  }
})

test('the fifteen labs are the expected ones, with fictional data and the expected collection methods', () => {
  assert.deepEqual(
    labs.map((lab) => `${lab.id} ${lab.slug}`),
    labSlugs.map((slug, index) => `${index + 1} ${slug}`),
  )
  assertDistinct('CLIA number', labs, (lab) => lab.clia)
  assertDistinct('director', labs, (lab) => lab.medical_director)
  for (const lab of labs) {
    assert.match(`${lab.clia} ${lab.state} ${lab.zipcode}`, /^00D\d{7} [A-Z]{2} 000\d\d$/)
    assert.equal(lab.logo_url, null)
    for (const text of [lab.name, lab.first_line_address, lab.city, lab.medical_director]) assert.ok(text.trim(), lab.slug)
    assert.ok(lab.collection_methods.length > 0 && lab.collection_methods.every((method) => methods.includes(method)), lab.slug)
    assert.ok(lab.sample_types.length > 0 && lab.sample_types.every((type) => sampleTypes.includes(type)), lab.slug)
  }
  for (const slug of bigLabs) assert.deepEqual(labOf.get(slug)?.collection_methods, methods.slice(1))
  for (const slug of words('ussl spiriplex ayumetrix us_biotek'))
    assert.ok(labOf.get(slug)?.collection_methods.includes('testkit'), slug)
  assert.deepEqual(labOf.get('manual')?.collection_methods, methods)
})

test('every marker refers to an existing lab, analytes and question set', () => {
  assert.deepEqual(Object.keys(markers[0]!), markerColumns)
  assertDistinct('marker id', markers, (row) => row.id)
  assertDistinct('provider id of a lab', markers, (row) => `${row.lab} ${row.provider_id}`)
  assertDistinct('marker slug of a lab', markers, (row) => `${row.lab} ${row.slug}`)
  for (const row of markers) {
    const where = `${row.lab} ${row.provider_id}`
    assert.match(row.id!, /^[1-9]\d*$/, where)
    assert.match(row.provider_id!, /^[A-Z0-9-]{2,20}$/, where)
    assert.match(row.slug!, slugPattern, where)
    assert.ok(labOf.has(row.lab!) && row.name && row.description, where)
    assert.ok(row.type === 'panel' || (row.type === 'biomarker' && reportedAnalytes(row).length <= 1), where)
    assertDistinct(`analyte of ${where}`, reportedAnalytes(row))
    for (const slug of reportedAnalytes(row)) assert.ok(analyteOf.has(slug), `${where}: ${slug}`)
    assert.match(row.price!, /^(\d+\.\d\d|N\/A)$/, where)
    assert.match(`${row.a_la_carte_enabled} ${row.is_orderable}`, /^((true|false) true|false false)$/, where)
    assert.match(`${row.common_tat_days}/${row.worst_case_tat_days}`, /^([1-9]\d*\/[1-9]\d*|\/)$/, where)
    assert.ok(Number(row.common_tat_days) <= Number(row.worst_case_tat_days), where)
    assert.ok(row.aoe === '' || row.aoe! in questionSets, `${where}: ${row.aoe}`)
  }
  const used = new Set(markers.flatMap(reportedAnalytes))
  const unused = analytes.filter((row) => !used.has(row.slug!)).map((row) => row.slug)
  assert.deepEqual(unused, [], 'analyte no marker reports')
})

test('every reflex marker belongs to an orderable marker of its lab that may report all of its analytes', () => {
  const orderable = markers.filter((row) => row.is_orderable === 'true')
  for (const reflex of reflexes) {
    const parents = orderable.filter((row) =>
      requiredAnalytes(reflex).every((slug) => words(row.optional_analytes).includes(slug)),
    )
    const found = requiredAnalytes(reflex).length > 0 && parents.some((row) => row.lab === reflex.lab)
    assert.ok(found, `${reflex.lab} ${reflex.provider_id}`)
  }
})

test('every question has a valid type and answers', () => {
  const questions = Object.values(questionSets).flat()
  assertDistinct('id', [...questions, ...questions.flatMap(({ answers }) => answers)], ({ id }) => id)
  for (const [name, set] of Object.entries(questionSets)) {
    assert.ok(
      markers.some((row) => row.aoe === name),
      `${name} is used by no marker`,
    )
    set.forEach((question, index) => assert.equal(question.sequence, index + 1, name))
    assertDistinct(`code of ${name}`, set, (question) => question.code)
  }
  for (const { code, value, type, answers, constraint } of questions) {
    assert.match(code, /^[A-Z]{2,8}$/)
    assert.ok(value.trim() && constraint !== '', code)
    assert.ok(words('choice text numeric multi_choice').includes(type), code)
    assert.equal(answers.length > 1, type.endsWith('choice'), code)
    assertDistinct(`answer of ${code}`, answers, (answer) => answer.code)
  }
})

test('every lab test can be ordered from its lab by its method and sample', () => {
  assertDistinct('key', labTests, (row) => row.key)
  for (const row of labTests) {
    const lab = labOf.get(row.lab)
    assert.match(row.key, slugPattern)
    assert.ok(row.name && row.description && row.price > 0 && row.provider_ids.length > 0, row.key)
    assert.ok(lab?.collection_methods.includes(row.method) && lab.sample_types.includes(row.sample_type), row.key)
    assertDistinct(`provider id of ${row.key}`, row.provider_ids)
    const ordered = row.provider_ids.map((id) => markerOf.get(`${row.lab} ${id}`))
    for (const [index, marker] of ordered.entries())
      assert.equal(marker?.is_orderable, 'true', `${row.key}: ${row.provider_ids[index]}`)
    const specimens = ordered.flatMap((marker) => requiredAnalytes(marker!)).map((slug) => analyteOf.get(slug)?.specimen ?? '')
    const fitting = words('saliva urine stool').includes(row.sample_type) ? [row.sample_type] : blood
    assert.ok(
      specimens.some((specimen) => fitting.includes(specimen)),
      row.key,
    )
  }
})

test('there are four standard tests, one per collection method, each with 6 to 20 distinct results', () => {
  const standard = labTests.filter((row) => row.standard)
  const offered = standard.map((row) => `${row.method} ${row.lab}`).join(', ')
  assert.equal(offered, 'testkit ussl, walk_in_test quest, at_home_phlebotomy labcorp, on_site_collection bioreference')
  for (const row of standard) {
    const results = row.provider_ids.flatMap((id) => reportedAnalytes(markerOf.get(`${row.lab} ${id}`)!))
    assertDistinct(`result of ${row.key}`, results)
    assert.ok(6 <= results.length && results.length <= 20, `${row.key}: ${results.length}`)
  }
})

const loincFolder = new URL('../../../../shared/loinc/', import.meta.url)

test('every code, name and unit agrees with the collected LOINC data', (t) => {
  if (!existsSync(loincFolder)) return t.skip('no folder ../shared/loinc beside the repository')
  const known = readLoinc()
  let compared = 0
  for (const { slug, loinc = '', loinc_name = '', unit = '' } of analytes) {
    if (!loinc) continue
    const examples = known.units.get(loinc)
    assert.ok(examples, `${slug}: ${loinc} is in no file`)
    const fits = examples.length === 0 || examples.some((example) => dimensionOf(example) === dimensionOf(unit))
    assert.ok(fits, `${slug}: ${unit} beside ${examples.join(' ')}`)
    const names = known.names.get(loinc)
    if (!names) continue
    assert.ok(names.includes(loinc_name), `${slug}: ${loinc} is ${names.join(' or ')}`)
    compared++
  }
  assert.ok(compared >= 250, `${compared} codes have a long name to compare`)
})

/** Long names and example units by code. Every code of the files has an entry in `units`, empty if LOINC gives no example. */
function readLoinc() {
  const rows = (name: string) => parseCsv(readFileSync(new URL(name, loincFolder), 'utf8'))
  const names = new Map<string, string[]>()
  const units = new Map<string, string[]>()
  const add = (map: Map<string, string[]>, code = '', texts: string[] = []) => map.set(code, [...(map.get(code) ?? []), ...texts])
  for (const row of rows('top2000_common_lab_results_si_v1-1.csv')) add(names, row.LOINC_NUM, [row.LONGNAME!])
  for (const row of rows('loinc_2.68_full_columns_747.csv')) add(names, row.LOINC_NUM, [row.LONG_COMMON_NAME!])
  for (const row of rows('mimic_iv_d_labitems_to_loinc.csv')) add(names, row.omop_concept_code, [row.omop_concept_name!])
  const split = (text = '') => text.split(/[;,] ?/).filter(Boolean)
  for (const row of rows('loinc_all_codes_example_units_104672.csv')) add(units, row.code, split(row.units))
  for (const row of rows('loinc_code_component_93600.csv')) add(units, row.LOINC_NUM)
  const older = JSON.parse(readFileSync(new URL('loinc_2.67_example_ucum_units.json', loincFolder), 'utf8')) as Record<
    string,
    string[]
  >
  for (const [code, examples] of Object.entries(older)) if (code !== 'version') add(units, code, examples.flatMap(split))
  return { names, units }
}

/** The dimension of a UCUM unit: base symbols with their powers, without prefixes, numbers and annotations. */
function dimensionOf(unit: string): string {
  const powers = new Map<string, number>()
  const parts = unit
    .replaceAll(/\{[^}]*\}/g, '')
    .replace('(24.h)', 'h')
    .split('/')
  for (const [index, part] of parts.entries()) {
    if (words('% [pH]').includes(part) || /^(10\*\d+)?$/.test(part)) continue
    const match = /^(min|h|\[arb'U\]|\[HPF\]|\[LPF\])$/.exec(part) ?? /^[kdcmunpf]?(g|L|mol|osm|\[IU\]|U|m|s)$/.exec(part)
    const symbol = (match?.[1] ?? part).replace(/^(min|h)$/, 's')
    powers.set(symbol, (powers.get(symbol) ?? 0) + (index === 0 ? 1 : -1))
  }
  const left = [...powers].filter(([, power]) => power !== 0)
  return left
    .map(([symbol, power]) => `${symbol}${power}`)
    .toSorted()
    .join(' ')
}
