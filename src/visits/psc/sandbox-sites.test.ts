// The file of fictional sites equals the output of its generator; UPDATE=1 writes it again.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { milesBetween } from '../geocoding/distance.ts'
import { zipTable } from '../geocoding/zip-codes.ts'
import { parseCsv } from '../../platform/files/csv.ts'
import { usStates } from '../../people/person/countries.ts'
import { sandboxSites } from '../../../test/support/sandbox-sites.ts'
import { BOOKABLE_VIA_API, sandboxPscLabs } from './schema.ts'

const file = new URL('data/sandbox-sites.csv', import.meta.url)
const zips = await zipTable()
const made = sandboxSites(zips)
const sites = parseCsv(made)

test('the file equals the output of the generator, which is the same each time', () => {
  if (process.env.UPDATE) writeFileSync(file, made)
  assert.equal(readFileSync(file, 'utf8'), made, 'data/sandbox-sites.csv is not up to date: run this test once with UPDATE=1')
  assert.equal(sandboxSites(zips), made)
})

test('there are over 2000 sites in every state, more in states with more residents', () => {
  const byState = Map.groupBy(sites, ({ state }) => state!)
  assert.ok(sites.length >= 2000 && made.length < 1_000_000)
  for (const state of usStates) assert.ok(byState.get(state)!.length >= 2, state)
  assert.ok(byState.get('CA')!.length > byState.get('OH')!.length && byState.get('OH')!.length > byState.get('WY')!.length)
  for (const lab of ['quest', 'labcorp', 'bioreference'])
    assert.deepEqual(new Set(sites.filter((site) => site.lab === lab).map(({ state }) => state)).size, 50, lab)
  assert.deepEqual([...new Set(sites.filter(({ lab }) => lab === 'sonora_quest').map(({ state }) => state))], ['AZ'])
})

test('Phoenix has nearby sites of every lab, and New York of every lab that operates there, some of them bookable', () => {
  for (const [zip, labs] of [
    ['85004', sandboxPscLabs],
    ['10001', ['quest', 'labcorp', 'bioreference']],
  ] as const)
    for (const lab of labs) {
      const near = sites.filter(
        (site) => site.lab === lab && milesBetween(zips.get(zip)!, { lat: Number(site.lat), lng: Number(site.lng) }) <= 10,
      )
      assert.ok(near.length >= 2, `${lab} near ${zip}: ${near.length}`)
      const bookable = near.filter(({ capabilities }) => capabilities!.includes(BOOKABLE_VIA_API))
      assert.equal(bookable.length > 0, lab.includes('quest'), `${lab} near ${zip}`)
    }
})

test('sites have unique codes and fictional names, and lie in their ZIP codes', () => {
  assert.equal(new Set(sites.map(({ site_code }) => site_code)).size, sites.length)
  for (const { site_code, name, zip_code, state, lat, lng, capabilities } of sites) {
    assert.match(name!, / \(sandbox\)$/)
    const place = zips.get(zip_code!)!
    assert.equal(place.state, state)
    assert.ok(milesBetween(place, { lat: Number(lat), lng: Number(lng) }) < 1, site_code)
    assert.ok(!/via_service.*with_lab/.test(capabilities!), site_code)
  }
})
