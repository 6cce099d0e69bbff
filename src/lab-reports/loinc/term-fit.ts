// How well the method and the specimen of a term fit a row.
import { findByName, type NameHit, type NameIndex } from './name-index.ts'
import { type NameParts, readName, specimenIn } from './name-text.ts'
import type { Term } from './terms.ts'

const METHOD_PATTERNS: Record<string, RegExp> = {
  calculation: /calc|formula/i,
  direct: /direct/i,
  sensitive: /high sensitiv/i,
  automated: /automated/i,
  manual: /manual/i,
  hplc: /hplc/i,
  ifcc: /ifcc/i,
  // Radioimmunoassays are named as such.
  immunoassay: /(?<!radio)immunoassay|\bia\b|immunologic/i,
  amplification: /naa|probe|amplif|molecular/i,
  immunofluorescence: /immunofluorescence|\bif\b/i,
  electrophoresis: /electrophoresis/i,
  ms: /lc\/ms|\bms\b/i,
  strip: /test strip/i,
  microscopy: /microscop/i,
  screen: /screen/i,
  confirm: /confirm/i,
  culture: /culture/i,
  rapid: /rapid/i,
  blot: /blot/i,
  mdrd: /MDRD/i,
  ckd_epi: /CKD-EPI/i,
  ckd_epi_2021: /CKD-EPI 2021/i,
  cockcroft_gault: /cockcroft/i,
}

const isOfMethod = (term: Term, method: string): boolean =>
  METHOD_PATTERNS[method]?.test(`${term.method} ${term.longName}`) ?? false

/** What these measure is something else than what the name without them says. */
const DECISIVE_METHODS = new Set([
  'electrophoresis',
  'amplification',
  'culture',
  'blot',
  'confirm',
  'rapid',
  'mdrd',
  'ckd_epi_2021',
  'cockcroft_gault',
])

/** Laboratories print them next to results of terms that name no method. */
const USUAL_METHODS = new Set(['immunoassay', 'automated'])

/** Methods count only where they tell terms apart: "screen" is part of many names. `printedMethods` are next to the name. */
export function methodFit(
  term: Term,
  { methodsOfName, printedMethods }: { methodsOfName: readonly string[]; printedMethods: readonly string[] },
  hits: readonly NameHit[],
): number {
  const counted = term.method === '' ? printedMethods.filter((method) => !USUAL_METHODS.has(method)) : printedMethods
  const asked = [...methodsOfName, ...counted].filter((method) => hits.some((hit) => isOfMethod(hit.term, method)))
  if (asked.length === 0 || asked.some((method) => isOfMethod(term, method))) return 1
  return term.method === '' ? 0.94 : 0.88
}

/** Whether a method of a name says that another term than this one is meant. */
export const isDecisive = (term: Term, method: string): boolean => DECISIVE_METHODS.has(method) && !isOfMethod(term, method)

/** What of a row says its specimen; see `ReportRow`. */
interface SpecimenOfRow {
  test_name: string
  source_panel_name?: string | null
  sample_type?: string | null
  specimen?: string | null
}

const FAMILY: Record<string, string> = {
  'Ser/Plas': 'blood',
  Ser: 'blood',
  Plas: 'blood',
  'Ser/Plas/Bld': 'blood',
  Bld: 'blood',
  PPP: 'blood',
  PRP: 'blood',
  RBC: 'blood',
  WBC: 'blood',
  Retic: 'blood',
  'Bld/Tiss': 'blood',
  'Bld/Bone mar': 'blood',
  'Plas.venous': 'blood',
  'Ser/Plas+CSF': 'blood',
  'Urine+Ser/Plas': 'blood',
  BldA: 'arterial',
  BldV: 'venous',
  BldC: 'capillary',
  BldCo: 'cord',
  BldCoA: 'cord',
  BldCoV: 'cord',
  Urine: 'urine',
  'Urine sed': 'urine',
  CSF: 'csf',
  'Ser+CSF': 'csf',
  Stool: 'stool',
  Saliva: 'saliva',
  Semen: 'semen',
  'Plr fld': 'pleural',
  'Synv fld': 'synovial',
  'Periton fld': 'peritoneal',
  'Bone mar': 'marrow',
  'Body fld': 'fluid',
  Sputum: 'sputum',
  Throat: 'throat',
  Vag: 'vaginal',
  Cvx: 'cervix',
}
/** The family of specimens that a LOINC system belongs to. */
export const familyOf = (system: string): string => FAMILY[system] ?? 'other'

const SAMPLE_TYPES: Record<string, string> = {
  urine: 'urine',
  serum_plasma_blood: 'bloods',
  capillary_blood: 'capillary',
  stool: 'stool',
  saliva: 'saliva',
}
/** Panels that imply a specimen. */
const PANEL_FAMILIES: [RegExp, string][] = [
  [/urin|\bua\b|dipstick|microscopic exam|specimen validity/i, 'urine'],
  [/\bcsf\b|cerebrospinal|spinal fluid/i, 'csf'],
  [/stool|fecal|faecal/i, 'stool'],
  [/semen|sperm|seminal/i, 'semen'],
  [/saliva/i, 'saliva'],
  [/arterial|\babg\b/i, 'arterial'],
  [/venous blood gas|\bvbg\b/i, 'venous'],
  [/pleural/i, 'pleural'],
  [/synovial|joint fluid/i, 'synovial'],
  [/peritoneal|ascit/i, 'peritoneal'],
  [
    /metabolic|\bcbc\b|\bcmp\b|\bbmp\b|blood count|lipid|hepatic|liver|renal function|thyroid|h(?:a)?emogram|differential|serum|plasma|coagulation|iron|electrolytes/i,
    'bloods',
  ],
  // Screens of other specimens say so.
  [
    /^(?!.*\b(?:blood|oral|hair|meconium|sweat|nail|cord)\b).*\b(?:drugs? of abuse|drug (?:screen|panel)|toxicology screen|uds)/i,
    'urine',
  ],
]
/** What a row says of its specimen; undefined if it says nothing. */
export function findSpecimen(index: NameIndex, row: SpecimenOfRow): string | undefined {
  const name = readName(row.test_name)
  return saidSpecimen(row, name, () => findByName(index, name))
}

/** In `RBC` and `Erythrocyte Sedimentation Rate` red cells are what is measured, in `Folate, RBC` what it is measured in. */
export function saidSpecimen(row: SpecimenOfRow, name: NameParts, findHits: () => readonly NameHit[]): string | undefined {
  const said = mostDirectSpecimen(row, name)
  if (said !== 'rbc') return said
  return findHits().some(({ term, isExact }) => isExact && term.component.startsWith('Erythrocyte')) ? undefined : said
}

/** From the most to the least direct statement. */
function mostDirectSpecimen(row: SpecimenOfRow, name: NameParts): string | undefined {
  return ofRow(row, name) ?? ofHeading(row) ?? name.specimen
}

/** The specimen that the panel alone says; undefined if the row says one by itself. */
export const specimenOfPanel = (row: SpecimenOfRow, name: NameParts): string | undefined =>
  ofRow(row, name) === undefined ? ofHeading(row) : undefined

function ofRow(row: SpecimenOfRow, name: NameParts): string | undefined {
  const fromName = name.specimen === 'blood' || name.specimen === 'rbc' ? undefined : name.specimen
  return fromName ?? (row.specimen ? specimenIn(row.specimen) : undefined) ?? SAMPLE_TYPES[row.sample_type ?? '']
}

const ofHeading = ({ source_panel_name }: SpecimenOfRow): string | undefined =>
  PANEL_FAMILIES.find(([pattern]) => pattern.test(source_panel_name ?? ''))?.[1]

/** What is measured in the patient, as a bleeding time, is under headings of any specimen. */
const OF_PATIENT = '^Patient'

export function specimenFit(term: Term, specimen: string | undefined): number {
  const family = familyOf(term.system)
  if (specimen === undefined || term.system === OF_PATIENT) return 1
  if (specimen === 'bloods' || specimen === 'blood')
    return family === 'blood' ? 1 : ['arterial', 'venous', 'capillary'].includes(family) ? 0.85 : family === 'other' ? 0.7 : 0.4
  if (specimen === 'serum')
    return family === 'blood' ? (term.system === 'Bld' || term.system === 'RBC' ? 0.9 : 1) : family === 'other' ? 0.6 : 0.4
  if (specimen === 'wholeblood') return family === 'blood' ? (term.system === 'Bld' || term.system === 'RBC' ? 1 : 0.9) : 0.4
  if (specimen === 'rbc') return term.system === 'RBC' ? 1 : family === 'blood' ? 0.85 : 0.5
  if (specimen === family) return 1
  if (family === 'blood' && ['arterial', 'venous', 'capillary', 'cord'].includes(specimen)) return 0.9
  // "Specimen" of any kind.
  return family === 'other' ? 0.88 : 0.35
}

/** Specimens that a row may have without a word about them: others are never chosen by a name and a unit alone. */
export const USUAL_FAMILIES = new Set(['blood', 'urine', 'stool', 'semen', 'throat', 'other'])

/** Terms of other specimens must be this much more frequent than those in blood to be meant without saying so. */
const MORE_FREQUENT = 300

/** Without a word about the specimen: blood if a term in blood fits the unit, else the specimen of the most frequent term. */
export function assumedFamily(terms: readonly Term[], fits: (term: Term) => boolean = () => true): string {
  const fitting = terms.filter(fits)
  const [most, ...others] = (fitting.length > 0 ? fitting : terms).toSorted((a, b) => a.rank - b.rank)
  const inBlood = [most!, ...others].find(({ system }) => familyOf(system) === 'blood')
  return inBlood && inBlood.rank < most!.rank + MORE_FREQUENT ? 'blood' : familyOf(most!.system)
}

export function familyFit(term: Term, family: string): number {
  const own = familyOf(term.system)
  if (own !== family) return own === 'other' ? 0.85 : 0.7
  // For specimens without a family, any specimen is meant rather than one.
  return own === 'other' && !['XXX', 'Respiratory', OF_PATIENT].includes(term.system) ? 0.9 : 1
}
