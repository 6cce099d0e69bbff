// Which specimen and container a test needs. The catalog has the specimen of every analyte; the containers are those that laboratories in
// the United States use. Pure.
import type { AnalyteDefinition, ExpectedMarker } from '../catalog/analytes.ts'
import type { CollectionMethod, SampleType } from '../catalog/enums.ts'
import { toWords } from './printable-patient.ts'

const LAVENDER = 'lavender (EDTA)'
const CITRATE = 'light blue (sodium citrate)'
const TRACE = 'royal blue (EDTA, trace elements)'
const NAAT = 'NAAT urine tube'
const DAY = '24-hour container'

/** Containers by the specimen of the catalog. */
const BY_SPECIMEN: Readonly<Record<string, string>> = {
  serum: 'gold (SST)',
  whole_blood: LAVENDER,
  capillary_blood: 'collection card',
  urine: 'urine cup',
  saliva: 'saliva tube',
  stool: 'stool container',
}

/** Analytes whose container is another one. */
const BY_ANALYTE: Readonly<Record<string, string>> = {
  ...containersForSlugs(
    CITRATE,
    'prothrombin-time inr aptt d-dimer fibrinogen antithrombin protein-c-activity protein-s-activity thrombin-time',
  ),
  ...containersForSlugs(TRACE, 'lead-blood mercury-blood arsenic-blood cadmium-blood'),
  ...containersForSlugs('royal blue (no additive)', 'zinc copper selenium'),
  ...containersForSlugs('gray (sodium fluoride)', 'lactate'),
  ...containersForSlugs('green (heparin)', 'calcium-ionized'),
  ...containersForSlugs('lavender (EDTA), on ice', 'ammonia acth'),
  ...containersForSlugs('pink (EDTA)', 'abo-group rh-type antibody-screen'),
  ...containersForSlugs('gray (boric acid)', 'urine-culture'),
  ...containersForSlugs(NAAT, 'chlamydia-naat gonorrhea-naat chlamydia-naat-any-site gonorrhea-naat-any-site trichomonas-naat'),
  ...containersForSlugs(NAAT, 'mycoplasma-genitalium-naat'),
  ...containersForSlugs(DAY, 'creatinine-clearance creatinine-urine-24h protein-urine-24h urine-volume-24h'),
  ...containersForSlugs('transport medium (Cary-Blair)', 'stool-culture'),
  ...containersForSlugs('vial with fixative', 'ova-and-parasites-stool'),
  ...containersForSlugs('FIT tube', 'fecal-immunochemical-test'),
}

function containersForSlugs(container: string, slugs: string): Record<string, string> {
  return Object.fromEntries(slugs.split(' ').map((slug) => [slug, container]))
}

/** What is collected for a test. */
export interface CollectedSpecimen {
  /** As the catalog has it, `whole_blood`; for a kit its sample type. */
  specimen: string
  /** Null if the catalog names no container. */
  container: string | null
}

const collectedFor = ({ slug, definition }: { slug: string; definition: AnalyteDefinition }): CollectedSpecimen[] => {
  const { specimen } = definition
  if (specimen === null) return []
  const container = (Object.hasOwn(BY_ANALYTE, slug) && BY_ANALYTE[slug]) || BY_SPECIMEN[specimen]
  return [{ specimen, container: container ?? null }]
}

/**
 * The specimens and containers of a marker, those of its required results only, each once. A kit has one sample for all its tests. Empty
 * if the catalog says nothing of the marker.
 */
export function collectedSpecimens(
  marker: Pick<ExpectedMarker, 'expected'>,
  { method, sample_type }: { method: CollectionMethod; sample_type: SampleType },
): CollectedSpecimen[] {
  if (method === 'testkit') return [{ specimen: sample_type, container: 'from the kit' }]
  const specimens = marker.expected.filter(({ required }) => required).flatMap(collectedFor)
  return [...new Map(specimens.map((item) => [printedSpecimen(item), item])).values()]
}

/** `Whole blood: lavender (EDTA)`. */
export const printedSpecimen = ({ specimen, container }: CollectedSpecimen): string =>
  container === null ? toWords(specimen) : `${toWords(specimen)}: ${container}`
