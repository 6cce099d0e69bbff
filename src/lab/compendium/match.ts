// Comparing sets of LOINC codes and names: what stands how to what, and how sure that is. Pure. Source: lab-testing.md 27.
import type { Canonical, Compendium, Item, Names, Shelf, Sought } from './model.ts'
import { wordsIn } from './term-index.ts'
import { name, similarity, writtenOut, type Name } from './name-similarity.ts'
import {
  relations,
  type CanonicalCandidate,
  type PerLabCandidate,
  type ReasonCode,
  type RelatedCandidate,
  type Relation,
} from './schema.ts'

/** From here on names are alike. */
const ALIKE = 0.45
/** From here on a name is a reason. */
const REASON = 0.65
/** What only the name speaks for is never surer than what a code speaks for. */
const SUGGESTED_MAX = 0.5

export interface Match {
  relation: Relation
  confidence: number
  reason_codes: ReasonCode[]
}

const rounded = (confidence: number): number => Math.round(confidence * 1000) / 1000

const codeReasons = {
  exact: 'EXACT_LOINC_SET',
  subset: 'SUBSET',
  superset: 'SUPERSET',
  overlap: 'OVERLAP',
} as const satisfies Partial<Record<Relation, ReasonCode>>

function relationOf(sought: string[], found: string[]): { relation: keyof typeof codeReasons; share: number } | undefined {
  const codes = new Set(sought)
  const shared = found.filter((code) => codes.has(code)).length
  if (shared === 0) return undefined
  const share = shared / (sought.length + found.length - shared)
  if (share === 1) return { relation: 'exact', share }
  if (shared === found.length) return { relation: 'subset', share }
  return { relation: shared === sought.length ? 'superset' : 'overlap', share }
}

/** How alike names are, own against own and whatever else they go by. */
function likeness(sought: Names, found: Names): { own: number; synonym: number } {
  const own = similarity(sought.own, found.own)
  const others = [
    ...sought.synonyms.map((each) => [each, found.own] as const),
    ...found.synonyms.map((each) => [sought.own, each] as const),
  ]
  return { own, synonym: Math.max(0, ...others.map(([a, b]) => similarity(a, b))) }
}

/** How something found stands to what is sought; undefined where it has nothing to do with it. */
export function match(sought: Sought, found: Sought): Match | undefined {
  const byCodes = relationOf(sought.loinc_codes, found.loinc_codes)
  const { own, synonym } = likeness(sought.names, found.names)
  const reasons: ReasonCode[] = own >= REASON ? ['NAME_MATCH'] : synonym >= REASON ? ['SYNONYM_MATCH'] : []
  if (!byCodes) {
    const alike = Math.max(own, synonym)
    if (alike < ALIKE) return undefined
    const reason_codes: ReasonCode[] = reasons.length ? reasons : [own >= synonym ? 'NAME_MATCH' : 'SYNONYM_MATCH']
    return { relation: 'suggested', confidence: rounded(SUGGESTED_MAX * alike), reason_codes }
  }
  const { relation, share } = byCodes
  const confidence = relation === 'exact' ? 1 : relation === 'overlap' ? 0.3 + 0.5 * share : 0.5 + 0.45 * share
  return { relation, confidence: rounded(confidence), reason_codes: [codeReasons[relation], ...reasons] }
}

const rank = ({ relation }: Match): number => relations.indexOf(relation)

interface Hit<F> {
  found: F
  how: Match
  alike: number
}

/** The best of a shelf, surest first among equals of relation. Names are looked at where codes do not lead to enough. */
export function best<F extends Sought>(
  sought: Sought,
  shelf: Shelf<F>,
  limit: number,
  isMeant: (found: F, how: Match) => boolean = () => true,
): Hit<F>[] {
  const seen = new Set<F>()
  const hits: Hit<F>[] = []
  const look = (found: F) => {
    if (seen.has(found)) return
    seen.add(found)
    const how = match(sought, found)
    if (how && isMeant(found, how)) hits.push({ found, how, alike: similarity(sought.names.own, found.names.own) })
  }
  for (const code of sought.loinc_codes) shelf.byCode.get(code)?.forEach(look)
  if (hits.length < limit) for (const word of wordsIn(sought.names)) shelf.byWord.get(word)?.forEach(look)
  return hits
    .sort((a, b) => rank(a.how) - rank(b.how) || b.how.confidence - a.how.confidence || b.alike - a.alike)
    .slice(0, limit)
}

/** How well a text that somebody typed names a canonical: its name, what else it goes by, one of its codes. 0 to 1. */
export function fits(text: string, canonical: Canonical): number {
  const code = text.trim().toLowerCase()
  if (canonical.items.some(({ provider_id }) => provider_id.toLowerCase() === code)) return 1
  if (canonical.loinc_codes.includes(code)) return canonical.loinc_codes.length === 1 ? 1 : 0.5
  const asked = [name(text), writtenOut(text)].filter((each): each is Name => each !== undefined)
  const { own, synonyms } = canonical.names
  const direct = Math.max(...asked.map((each) => similarity(each, own)))
  return Math.max(direct, 0.97 * Math.max(0, ...asked.flatMap((each) => synonyms.map((other) => similarity(each, other)))))
}

/** The canonicals that a text names, best first. */
export function named(text: string, among: Canonical[], limit: number): { canonical: Canonical; confidence: number }[] {
  return among
    .map((canonical) => ({ canonical, confidence: rounded(fits(text, canonical)) }))
    .filter(({ confidence }) => confidence >= ALIKE)
    .sort(
      (a, b) =>
        b.confidence - a.confidence ||
        b.canonical.popularity - a.canonical.popularity ||
        a.canonical.loinc_codes.length - b.canonical.loinc_codes.length,
    )
    .slice(0, limit)
}

const distinct = (values: string[]): string[] => [...new Set(values)]

export const shownCanonical = (canonical: Canonical, confidence: number): CanonicalCandidate => ({
  loinc_set_hash: canonical.loinc_set_hash,
  display_name: canonical.display_name,
  aliases: canonical.aliases,
  loinc_codes: canonical.loinc_codes,
  provider_ids: distinct(canonical.items.map(({ provider_id }) => provider_id)),
  loinc_components: canonical.loinc_components,
  loinc_groups: [],
  cpt_codes: distinct(canonical.items.flatMap(({ cpt_codes }) => cpt_codes)),
  popularity_score: rounded(canonical.popularity),
  confidence,
})

export const shownRelated = (canonical: Canonical, how: Match): RelatedCandidate => ({
  canonical: shownCanonical(canonical, how.confidence),
  ...how,
})

export const shownItem = ({ canonicals }: Compendium, item: Item, how: Match): PerLabCandidate => ({
  marker_id: item.marker_id,
  lab_id: item.lab_id,
  lab_slug: item.lab_slug,
  name: item.name,
  result_names: item.result_names,
  provider_id: item.provider_id,
  loinc_set_hash: item.loinc_set_hash,
  loinc_codes: item.loinc_codes,
  loinc_components: item.loinc_components,
  loinc_groups: [],
  cpt_codes: item.cpt_codes,
  ...how,
  marker_popularity_score: rounded(canonicals.get(item.loinc_set_hash)?.popularity ?? 0),
})
