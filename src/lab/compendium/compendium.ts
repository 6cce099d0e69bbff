// The compendium's operations: search tests across laboratories, convert tests to another laboratory, and search its orderable tests. Only
// reads. Source: lab-testing.md 27.
import type { Tx } from '../../platform/db/transaction.ts'
import { unprocessable, invalidField, notFound } from '../../platform/http/errors.ts'
import { valueFault, type Fault } from '../../platform/schema/fault.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Canonical, Compendium, Item, MatchQuery } from './model.ts'
import type { CompendiumCache } from './index-builder.ts'
import { findBest, findByName, toCanonicalCandidate, toPerLabCandidate, toRelatedCandidate, type Match } from './match-codes.ts'
import * as shapes from './schema.ts'

const LIMIT = 3
const CANONICAL_LIMIT_MAX = 10

/**
 * Searches by a query, or maps a set of LOINC codes to the laboratories.
 * Errors: 422 in mode `canonical` no query, a hash, or a limit above 10; in mode `crosswalk` not exactly one of query and hash.
 */
export async function searchCompendium(
  tx: Tx,
  compendiums: CompendiumCache,
  body: shapes.SearchCompendium,
): Promise<shapes.SearchCompendiumReply> {
  assertSearch(body)
  const { mode, limit = LIMIT, include_related = true } = body
  const labs = body.labs?.length ? [...new Set(body.labs)] : shapes.compendiumLabs
  const cpt = new Set(body.cpt_codes)
  const hasCode = ({ cpt_codes }: Item) => cpt.size === 0 || cpt_codes.some((code) => cpt.has(code))
  const compendium = await compendiums.get(tx)
  const among = [...compendium.canonicals.values()].filter(({ items }) => items.some(hasCode))

  if (mode === 'canonical') {
    const atLabs = among.filter(({ items }) => items.some(({ lab_slug }) => (labs as string[]).includes(lab_slug)))
    const found = findByName(body.query!, atLabs, limit).map(({ canonical, confidence }) =>
      toCanonicalCandidate(canonical, confidence),
    )
    return { mode, selected_canonical: found[0] ?? null, canonical_candidates: found, per_lab: {}, related: [] }
  }
  const selected = select(body, among)
  const per_lab = labs.map((slug) => [slug, candidatesAt(compendium, selected?.canonical, slug, limit, hasCode)] as const)
  const canonicalCandidate = selected && toCanonicalCandidate(selected.canonical, selected.confidence)
  return {
    mode,
    selected_canonical: canonicalCandidate ?? null,
    canonical_candidates: canonicalCandidate ? [canonicalCandidate] : [],
    per_lab: Object.fromEntries(per_lab),
    related: selected && include_related ? relatedTo(compendium, selected.canonical, hasCode, limit) : [],
  }
}

const isGiven = (text: string | undefined): boolean => Boolean(text?.trim())

function assertSearch({ mode, query, loinc_set_hash, limit }: shapes.SearchCompendium): void {
  const faults: Fault[] = []
  const refuse = (field: string, text: string) => faults.push(valueFault(['body', field], text))
  if (mode === 'canonical') {
    if (!isGiven(query)) refuse('query', 'is required in mode canonical')
    if (loinc_set_hash !== undefined) refuse('loinc_set_hash', 'is only for mode crosswalk')
    if (limit !== undefined && limit > CANONICAL_LIMIT_MAX)
      refuse('limit', `must be at most ${CANONICAL_LIMIT_MAX} in mode canonical`)
  } else if (isGiven(query) === isGiven(loinc_set_hash)) refuse('query', 'exactly one of query and loinc_set_hash must be set')
  if (faults.length) throw unprocessable(faults)
}

function select({ query, loinc_set_hash }: shapes.SearchCompendium, canonicals: Canonical[]) {
  if (isGiven(query)) return findByName(query!, canonicals, 1)[0]
  const hash = loinc_set_hash!.trim().toLowerCase()
  const canonical = canonicals.find((candidate) => candidate.loinc_set_hash === hash)
  return canonical && { canonical, confidence: 1 }
}

/** Other sets that share codes with this one. */
const relatedTo = (
  { relatedIndex }: Compendium,
  selectedTest: Canonical,
  hasCode: (item: Item) => boolean,
  limit: number,
): shapes.RelatedCandidate[] =>
  findBest(
    selectedTest,
    relatedIndex,
    limit,
    (canonical, { relation }) => canonical !== selectedTest && relation !== 'suggested' && canonical.items.some(hasCode),
  ).map(({ candidate, how }) => toRelatedCandidate(candidate, how))

/** Candidates of one laboratory; empty for an unknown test, or if the laboratory offers nothing. */
function candidatesAt(
  compendium: Compendium,
  query: MatchQuery | undefined,
  slug: string,
  limit: number,
  isMeant?: (item: Item) => boolean,
): shapes.PerLabCandidate[] {
  const index = compendium.byLab.get(slug)
  if (!query || !index) return []
  return findBest(query, index, limit, isMeant).map(({ candidate, how }) => toPerLabCandidate(compendium, candidate, how))
}

const Lab = T.Object({ id: T.Integer(), slug: T.String() })

const getLab = (tx: Tx, slug: string) => tx.one(Lab, sql`select id, slug from lab where slug = ${slug}`)

/** Whether a candidate can replace the source. */
const coversSource = ({ relation }: Match): boolean => relation === 'exact' || relation === 'superset'

/**
 * The codes of another laboratory for those of a lab test, or for codes of any laboratory. A code counts as converted if a code of the
 * target measures at least the same; other similar codes are listed as candidates only.
 * Errors: 422 both or neither of lab test and codes; 404 unknown lab test.
 */
export async function convertCompendium(
  tx: Tx,
  compendiums: CompendiumCache,
  { lab_test_id, provider_ids, target_lab, limit = LIMIT }: shapes.ConvertCompendium,
): Promise<shapes.ConvertCompendiumReply> {
  if ((lab_test_id === undefined) === !provider_ids?.length)
    throw invalidField(['body', 'lab_test_id'], 'exactly one of lab_test_id and provider_ids must be set')
  const [compendium, target] = await Promise.all([compendiums.get(tx), getLab(tx, target_lab)])
  const sources =
    lab_test_id === undefined
      ? sourcesByCode(compendium, provider_ids!, target.id)
      : await sourcesOfTest(tx, compendium, lab_test_id)
  const labs = new Set(sources.map(({ item }) => item?.lab_id))
  const converted = sources.map(({ code, item }) => ({ code, candidates: candidatesAt(compendium, item, target.slug, limit) }))
  const taken = converted.map(({ candidates }) => candidates.find(coversSource)?.provider_id)
  return {
    source_lab_test_id: lab_test_id ?? null,
    source_lab_id: (labs.size === 1 && [...labs][0]) || null,
    target_lab_id: target.id,
    target_lab_slug: target.slug,
    source_provider_ids: sources.map(({ code }) => code),
    converted_provider_ids: [...new Set(taken.filter((code) => typeof code === 'string'))],
    unresolved_provider_ids: converted.filter((_, i) => taken[i] === undefined).map(({ code }) => code),
    by_source_provider_id: Object.fromEntries(
      converted.map(({ code, candidates }) => [code, { source_provider_id: code, candidates }]),
    ),
  }
}

interface Source {
  code: string
  item: Item | undefined
}

/** The items of codes. If several laboratories use a code, the item is that of the laboratory with most of the codes. */
function sourcesByCode({ items }: Compendium, codes: string[], target_id: number): Source[] {
  const uniqueCodes = [...new Set(codes)]
  const byId = Map.groupBy(
    items.filter(({ provider_id }) => uniqueCodes.includes(provider_id)),
    ({ provider_id }) => provider_id,
  )
  const votes = new Map<number, number>()
  for (const same of byId.values()) for (const { lab_id } of same) votes.set(lab_id, (votes.get(lab_id) ?? 0) + 1)
  const weight = ({ lab_id }: Item) => votes.get(lab_id)! - (lab_id === target_id ? 0.5 : 0)
  return uniqueCodes.map((code) => ({ code, item: byId.get(code)?.toSorted((a, b) => weight(b) - weight(a))[0] }))
}

const Member = T.Object({ marker_id: T.Integer(), provider_id: T.String() })
const Found = T.Object({ id: T.String() })

async function sourcesOfTest(tx: Tx, { items }: Compendium, lab_test_id: string): Promise<Source[]> {
  const [test, members] = await Promise.all([
    tx.maybe(Found, sql`select id from lab_test where id = ${lab_test_id} and team_id = ${tx.team}`),
    tx.many(
      Member,
      sql`
      select tm.marker_id, m.provider_id
      from lab_test t join lab_test_marker tm on tm.team_id = t.team_id and tm.lab_test_id = t.id join marker m on m.id = tm.marker_id
      where t.id = ${lab_test_id} and t.team_id = ${tx.team} order by tm.position`,
    ),
  ])
  if (!test) throw notFound('Lab test not found')
  return members.map(({ marker_id, provider_id }) => ({
    code: provider_id,
    item: items.find((item) => item.marker_id === marker_id),
  }))
}

/** Orderable tests of a laboratory for codes of any laboratory, best first; nothing for an unknown code. */
export async function searchOrderableTests(
  tx: Tx,
  compendiums: CompendiumCache,
  { provider_ids, target_lab, per_provider_limit = 1 }: shapes.SearchOrderableTests,
): Promise<shapes.SearchOrderableTestsReply> {
  const [compendium, target] = await Promise.all([compendiums.get(tx), getLab(tx, target_lab)])
  const sources = sourcesByCode(compendium, provider_ids, target.id)
  return {
    candidates: Object.fromEntries(
      sources.map(({ code, item }) => [code, candidatesAt(compendium, item, target.slug, per_provider_limit)]),
    ),
  }
}
