import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { normalizeName, similarity } from './name-similarity.ts'
import { compendiumLabs, type CanonicalCandidate, type PerLabCandidate } from './schema.ts'

let team: TestTeam
const search = async (body: object) => {
  const reply = await team.api.post('/v3/compendium/search', body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const namesOf = (candidates: CanonicalCandidate[]) => candidates.map(({ display_name }) => display_name)
const codesOf = (candidates: PerLabCandidate[]) => candidates.map(({ provider_id }) => provider_id)
const listFaults = async (path: string, body: unknown) => {
  const reply = await team.api.post(`/v3/compendium/${path}`, body)
  assert.equal(reply.status, 422, JSON.stringify(reply.body))
  return reply.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))
}
before(async () => void (team = await createTestTeam()))

describe('name similarity', () => {
  test('names are similar regardless of case and punctuation, and more similar with each shared word', () => {
    const alike = (a: string, b: string) => similarity(normalizeName(a), normalizeName(b))
    assert.equal(alike('Lipid Panel', 'lipid-panel'), 1)
    assert.ok(alike('lipid', 'Lipid Panel') > alike('lipid', 'Lipid Panel with Reflex to Direct LDL'))
    assert.ok(alike('lipid', 'Lipid Panel with Reflex to Direct LDL') > 0.7)
    assert.ok(alike('magnesum', 'Magnesium') > 0.4 && alike('magnesum', 'Magnesium') < 0.7)
    assert.equal(alike('', 'Magnesium'), 0)
    assert.ok(alike('glucose', 'Ferritin') < 0.2)
  })
})

describe('canonical search', () => {
  test('a search finds tests under the different names of laboratories, the best match first', async () => {
    for (const query of ['basic metabolic panel', 'BMP', 'BMP, chemistry 8 profile', 'Q55017', 'basic metabolic panel (8)']) {
      const { mode, selected_canonical: top, canonical_candidates, per_lab, related } = await search({ mode: 'canonical', query })
      assert.equal(top.display_name, 'Basic Metabolic Panel', query)
      assert.deepEqual([mode, per_lab, related, canonical_candidates[0]], ['canonical', {}, [], top])
      assert.ok(canonical_candidates.length <= 3)
      assert.deepEqual(top.provider_ids, ['Q55017', 'L770025', 'B2113-8', 'S900115'])
      assert.ok(top.aliases.includes('BMP, Chemistry 8 Profile') && !top.aliases.includes(top.display_name))
      assert.ok(top.loinc_components.includes('Glucose'))
      const hash = createHash('sha256').update(top.loinc_codes.toSorted().join(',')).digest('hex').slice(0, 10)
      assert.equal(top.loinc_set_hash, hash)
      const sureness = canonical_candidates.map(({ confidence }: CanonicalCandidate) => confidence)
      assert.deepEqual(
        sureness,
        sureness.toSorted((a: number, b: number) => b - a),
      )
    }
  })

  test('a search by LOINC code finds single results, and nothing for a code without a test', async () => {
    assert.equal((await search({ mode: 'canonical', query: '3016-3' })).selected_canonical.display_name, 'TSH')
    const nothing = await search({ mode: 'canonical', query: 'zzzz' })
    assert.deepEqual([nothing.selected_canonical, nothing.canonical_candidates], [null, []])
  })

  test('a search respects the limit and the laboratories of the request', async () => {
    const of = async (searchPanels: object) =>
      (await search({ mode: 'canonical', query: 'panel', ...searchPanels })).canonical_candidates
    assert.equal((await of({})).length, 3)
    assert.equal((await of({ limit: 10 })).length, 10)
    const labcorp: CanonicalCandidate[] = await of({ labs: ['labcorp'], limit: 10 })
    assert.ok(labcorp.every(({ provider_ids }) => provider_ids.some((code) => code.startsWith('L'))))
    assert.ok(namesOf(await of({ limit: 10, labs: [] })).length === 10)
  })
})

describe('crosswalk', () => {
  test('a crosswalk maps a code set to every laboratory with its relation', async () => {
    const found = await search({ mode: 'crosswalk', query: 'Basic Metabolic Panel', limit: 20 })
    const { canonical_candidates, selected_canonical: selected, per_lab, related } = found
    assert.deepEqual(canonical_candidates, [selected])
    assert.deepEqual(Object.keys(per_lab).sort(), [...compendiumLabs].sort())
    const requested = new Set(selected.loinc_codes)
    const relation = ({ loinc_codes }: { loinc_codes: string[] }) => {
      const shared = loinc_codes.filter((code) => requested.has(code)).length
      if (shared === 0) return 'suggested'
      if (shared === requested.size) return loinc_codes.length === shared ? 'exact' : 'superset'
      return loinc_codes.length === shared ? 'subset' : 'overlap'
    }
    const order = ['exact', 'superset', 'subset', 'overlap', 'suggested']
    const seen = new Set<string>()
    for (const [slug, found] of Object.entries<PerLabCandidate[]>(per_lab)) {
      assert.ok(found.length > 1)
      const ranks = found.map((candidate) => order.indexOf(candidate.relation))
      assert.deepEqual(
        ranks,
        ranks.toSorted((a, b) => a - b),
      )
      for (const each of found) {
        assert.equal(each.lab_slug, slug)
        assert.equal(each.relation, relation(each), each.name)
        assert.equal(each.relation === 'exact', each.confidence === 1)
        assert.ok(each.confidence > 0 && each.confidence <= 1 && each.reason_codes.length)
        seen.add(each.relation)
      }
    }
    assert.deepEqual([...seen].sort(), ['exact', 'overlap', 'subset', 'superset'])
    assert.deepEqual(codesOf(per_lab.quest).slice(0, 1), ['Q55017'])
    assert.deepEqual(per_lab.quest[0].reason_codes, ['EXACT_LOINC_SET', 'NAME_MATCH'])
    assert.ok(related.length > 0)
    for (const { canonical, relation: how } of related) {
      assert.notEqual(canonical.loinc_set_hash, selected.loinc_set_hash)
      assert.equal(how, relation(canonical))
    }
  })

  test('a crosswalk accepts the hash of a search and omits laboratories that were not requested', async () => {
    const { loinc_set_hash } = (await search({ mode: 'canonical', query: 'ferritin' })).selected_canonical
    const body = { mode: 'crosswalk', loinc_set_hash: loinc_set_hash.toUpperCase(), labs: ['labcorp', 'labcorp'], limit: 1 }
    const { selected_canonical, per_lab, related } = await search({ ...body, include_related: false })
    assert.deepEqual([selected_canonical.loinc_set_hash, selected_canonical.confidence, related], [loinc_set_hash, 1, []])
    assert.deepEqual(Object.keys(per_lab), ['labcorp'])
    assert.deepEqual(codesOf(per_lab.labcorp), ['L770662'])
    const nothing = await search({ mode: 'crosswalk', loinc_set_hash: '0000000000', labs: ['quest'] })
    assert.deepEqual(
      [nothing.selected_canonical, nothing.canonical_candidates, nothing.per_lab, nothing.related],
      [null, [], { quest: [] }, []],
    )
  })

  test("the compendium is rebuilt after a catalog change and finds the catalog's CPT codes", async () => {
    const { db } = team
    const body = { mode: 'crosswalk', query: 'ferritin', cpt_codes: ['82728'] }
    assert.equal((await search(body)).selected_canonical, null)
    await db.queries.run(sql`update marker set cpt_codes = array['82728'] where provider_id in ('Q55381', 'L770662')`)
    await db.queries.run(sql`insert into catalog_data_version (part, checksum) values ('test', 'changed')`)
    const { selected_canonical, per_lab } = await search(body)
    const { rows } = await db.pool.query(`select provider_id from marker where cpt_codes <> '{}' order by lab_id`)
    const coded = rows.map(({ provider_id }) => provider_id)
    assert.deepEqual(selected_canonical.cpt_codes, ['82728'])
    assert.deepEqual(
      Object.values<PerLabCandidate[]>(per_lab)
        .flatMap(codesOf)
        .filter((code) => !coded.includes(code!)),
      [],
    )
  })
})

describe('contradicting search parameters', () => {
  test('a search with contradicting parameters is rejected with all field errors', async () => {
    const hash = { loinc_set_hash: '0123456789' }
    assert.deepEqual(await listFaults('search', { mode: 'canonical' }), ['body.query'])
    assert.deepEqual(await listFaults('search', { mode: 'canonical', query: '  ', ...hash, limit: 11 }), [
      'body.query',
      'body.loinc_set_hash',
      'body.limit',
    ])
    assert.deepEqual(await listFaults('search', { mode: 'crosswalk' }), ['body.query'])
    assert.deepEqual(await listFaults('search', { mode: 'crosswalk', query: 'x', ...hash }), ['body.query'])
    assert.deepEqual(await listFaults('search', { mode: 'crosswalk', query: 'x', limit: 21, labs: ['crl'] }), [
      'body.labs.0',
      'body.limit',
    ])
    assert.deepEqual(await listFaults('search', { mode: 'sideways', limit: 0 }), ['body.mode', 'body.limit'])
    assert.deepEqual(await listFaults('search', {}), ['body.mode'])
    const codes = { provider_ids: ['Q55122'] }
    assert.deepEqual(await listFaults('convert', codes), ['body.target_lab'])
    assert.deepEqual(await listFaults('convert', { target_lab: 'labcorp' }), ['body.lab_test_id'])
    assert.deepEqual(await listFaults('convert', { target_lab: 'labcorp', provider_ids: [] }), ['body.lab_test_id'])
    assert.deepEqual(await listFaults('convert', { ...codes, target_lab: 'labcorp', lab_test_id: randomUUID() }), [
      'body.lab_test_id',
    ])
    assert.deepEqual(await listFaults('convert', { ...codes, target_lab: 'crl', limit: 0 }), ['body.target_lab', 'body.limit'])
    const many = Array.from({ length: 101 }, (_, i) => `Q${i}`)
    assert.deepEqual(await listFaults('search_orderable_tests', { provider_ids: many, target_lab: 'quest' }), [
      'body.provider_ids',
    ])
    assert.deepEqual(await listFaults('search_orderable_tests', {}), ['body.provider_ids', 'body.target_lab'])
  })
})

describe('conversion', () => {
  test('converting a lab test returns codes of another laboratory that measure at least the same', async () => {
    const lab_test_id = await team.test('walk_in_test')
    const { body } = await team.api.post('/v3/compendium/convert', { lab_test_id, target_lab: 'bioreference', limit: 2 })
    const { markers } = (await team.api.get(`/v3/lab_tests/${lab_test_id}`)).body
    const sources = codesOf(markers)
    assert.deepEqual(
      [body.source_lab_test_id, body.source_lab_id, body.target_lab_id, body.target_lab_slug, body.source_provider_ids],
      [lab_test_id, 4, 7, 'bioreference', sources],
    )
    assert.deepEqual(Object.keys(body.by_source_provider_id).sort(), sources.toSorted())
    const tsh = body.by_source_provider_id.Q55122
    assert.equal(tsh.source_provider_id, 'Q55122')
    assert.equal(tsh.candidates.length, 2)
    assert.equal(tsh.candidates[0].relation, 'exact')
    assert.ok(body.converted_provider_ids.includes(tsh.candidates[0].provider_id))
    assert.deepEqual(body.unresolved_provider_ids, [])
    const other = await createTestTeam()
    const theirs = await other.api.post('/v3/compendium/convert', { lab_test_id, target_lab: 'bioreference' })
    assert.deepEqual([theirs.status, theirs.body.detail], [404, 'Lab test not found'])
  })

  test('converting codes lists codes without a target, both unknown codes and codes with a similar name only', async () => {
    const provider_ids = ['Q55122', 'Q55458', 'NO-SUCH', 'Q55122', '__proto__']
    const { body } = await team.api.post('/v3/compendium/convert', { provider_ids, target_lab: 'labcorp' })
    assert.deepEqual(body.source_provider_ids, ['Q55122', 'Q55458', 'NO-SUCH', '__proto__'])
    assert.deepEqual(body.unresolved_provider_ids, ['Q55458', 'NO-SUCH', '__proto__'])
    assert.equal(body.converted_provider_ids.length, 1)
    assert.deepEqual([body.source_lab_test_id, body.source_lab_id], [null, null])
    const [suggested] = body.by_source_provider_id.Q55458.candidates
    assert.deepEqual([suggested.name, suggested.relation], ['Magnesium, Red Cell', 'suggested'])
    assert.ok(suggested.confidence <= 0.5)
    assert.deepEqual(body.by_source_provider_id['NO-SUCH'], { source_provider_id: 'NO-SUCH', candidates: [] })
  })

  test('a search for orderable tests returns one per code unless the request asks for more', async () => {
    const ask = async (overrides: object) =>
      (await team.api.post('/v3/compendium/search_orderable_tests', { target_lab: 'labcorp', ...overrides })).body.candidates
    const found = await ask({ provider_ids: ['Q55122', 'NO-SUCH', 'AYX-TSH'] })
    assert.deepEqual(codesOf(found.Q55122), codesOf(found['AYX-TSH']))
    assert.deepEqual([found.Q55122[0].lab_slug, found.Q55122[0].relation, found['NO-SUCH']], ['labcorp', 'exact', []])
    assert.equal((await ask({ provider_ids: ['Q55122'], per_provider_limit: 4 })).Q55122.length, 4)
    assert.deepEqual(await ask({ provider_ids: [] }), {})
  })
})
