// The compendium: the items of four laboratories, as far as the team is offered them, grouped by the set of LOINC codes that they measure.
// Built from the catalog at first use, kept in memory, and rebuilt after the catalog was loaded again. Only reads.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { labAccess } from '../accounts/offered-labs.ts'
import { normalizeName, expandAbbreviations } from './name-similarity.ts'
import { buildIndex, Row, type Canonical, type Compendium, type Item, type Names } from './model.ts'
import { compendiumLabs } from './schema.ts'

/** The first ten hexadecimal digits of SHA-256 of the codes, each once, sorted and joined by commas. Source: lab-testing.md 27. */
const loincSetHash = (loinc_codes: string[]): string =>
  createHash('sha256').update(distinct(loinc_codes).toSorted().join(',')).digest('hex').slice(0, 10)

const distinct = <V>(values: V[]): V[] => [...new Set(values)]

/** The analyte of a LOINC name, without method and specimen: `Glucose` of `Glucose [Mass/volume] in Serum or Plasma`. */
const analyteOf = (loinc_name: string): string => loinc_name.split(/ \[| in /)[0]!

const toNames = (primary: string, synonyms: string[]): Names => ({
  primary: normalizeName(primary),
  synonyms: distinct([primary, ...synonyms].flatMap((text) => expandAbbreviations(text) ?? [])).concat(
    synonyms.map(normalizeName),
  ),
})

function itemOf({ results, ...row }: Static<typeof Row>): Item {
  const coded = results.filter(({ loinc }) => loinc !== null)
  const loinc_codes = distinct(coded.map(({ loinc }) => loinc!)).toSorted()
  const loinc_components = distinct(coded.map(({ loinc_name, name }) => analyteOf(loinc_name ?? name)))
  // The analytes of a panel are not synonyms of it.
  const synonyms = results.length === 1 ? [results[0]!.name, ...loinc_components] : []
  return {
    ...row,
    result_names: results.map((result) => result.name),
    loinc_set_hash: loincSetHash(loinc_codes),
    loinc_codes,
    loinc_components,
    names: toNames(row.name, synonyms),
  }
}

function toCanonical(items: Item[], maxItems: number): Canonical {
  const [first] = items as [Item]
  const display_name = first.name
  const aliases = distinct(items.map((item) => item.name)).filter((alias) => alias !== display_name)
  const single = first.loinc_codes.length === 1 ? [...first.result_names, ...first.loinc_components] : []
  return {
    loinc_set_hash: first.loinc_set_hash,
    display_name,
    aliases,
    loinc_codes: first.loinc_codes,
    loinc_components: first.loinc_components,
    items,
    popularity: items.length / maxItems,
    names: toNames(display_name, distinct([...aliases, ...single])),
  }
}

async function build(tx: Tx, labs: number[] | undefined): Promise<Compendium> {
  const ofLabs = labs ? sql`m.lab_id = any (${labs}::integer[])` : sql`true`
  const rows = await tx.many(
    Row,
    sql`
    select m.id as marker_id, m.lab_id, l.slug as lab_slug, m.name, m.provider_id, m.cpt_codes, m.is_orderable,
      (select coalesce(json_agg(json_build_object('name', a.name, 'loinc', a.loinc, 'loinc_name', a.loinc_name) order by ma.position), '[]')
       from marker_analyte ma join analyte a on a.id = ma.analyte_id where ma.marker_id = m.id) as results
    from marker m join lab l on l.id = m.lab_id where ${ofLabs} order by m.id`,
  )
  const items = rows.map(itemOf)
  const order = new Map<string, number>(compendiumLabs.map((slug, i) => [slug, i]))
  const targets = items
    .filter(({ lab_slug, is_orderable }) => is_orderable && order.has(lab_slug))
    .toSorted((a, b) => order.get(a.lab_slug)! - order.get(b.lab_slug)! || a.marker_id - b.marker_id)
  const sets = Map.groupBy(
    targets.filter(({ loinc_codes }) => loinc_codes.length),
    ({ loinc_set_hash }) => loinc_set_hash,
  )
  const most = Math.max(1, ...[...sets.values()].map((items) => items.length))
  const canonicals = new Map([...sets].map(([hash, same]) => [hash, toCanonical(same, most)]))
  const byLab = Map.groupBy(targets, ({ lab_slug }) => lab_slug)
  return {
    items,
    canonicals,
    relatedIndex: buildIndex(canonicals.values()),
    byLab: new Map([...byLab].map(([slug, offered]) => [slug, buildIndex(offered)])),
  }
}

const Version = T.Object({ version: T.String() })

/** Maximum number of cached compendiums: one for each cell and set of laboratories. */
const CACHED_MAX = 16

/** The compendiums that were used: of a cell, with the laboratories that a team is offered. */
export class CompendiumCache {
  readonly #built = new LRUCache<string, { version: string; compendium: Promise<Compendium> }>({ max: CACHED_MAX })

  /** The compendium of the team for the present catalog. Runs one small statement, and reads the catalog if it has changed. */
  async get(tx: Tx): Promise<Compendium> {
    const labs = await labAccess.offeredLabIds(tx)
    const key = `${tx.tenant.cell} ${labs?.join() ?? ''}`
    const { version } = await tx.one(
      Version,
      sql`select coalesce(string_agg(part || ' ' || checksum, ' ' order by part), '') as version from catalog_data_version`,
    )
    const known = this.#built.get(key)
    if (known?.version === version) return known.compendium
    const compendium = build(tx, labs)
    this.#built.set(key, { version, compendium })
    compendium.catch(() => this.#built.delete(key))
    return compendium
  }
}
