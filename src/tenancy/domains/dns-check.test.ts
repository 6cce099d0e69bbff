import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { cname, nameServer, txt } from '../../../test/support/dns-server.ts'
import { checkRecords, type DnsRecord, type DnsCheckResult } from './dns-check.ts'

const server = await nameServer()
const options = { servers: [server.address], timeout_ms: 250, tries: 2, deadline_ms: 5000 }
const text: DnsRecord = { type: 'TXT', host: '_drawbridge.clinic.example', value: 'drawbridge-verification=abc' }
const alias: DnsRecord = { type: 'CNAME', host: 'dashboard.clinic.example', value: 'lab.example.org' }
const T = `TXT ${text.host}`
const C = `CNAME ${alias.host}`
const check = (...records: DnsRecord[]): Promise<DnsCheckResult> => checkRecords(options, records)

beforeEach(() => {
  server.zone.clear()
  server.truncates = false
})

describe('a text in DNS', () => {
  test('is found alone, among others, and in pieces', async () => {
    server.zone.set(T, [txt(text.host, text.value)])
    assert.equal(await check(text), 'verified')
    server.zone.set(T, [txt(text.host, 'v=spf1 -all'), txt(text.host, 'drawbridge-', 'verification=abc'), txt(text.host, 'x')])
    assert.equal(await check(text), 'verified')
  })

  test('is missing when it is another, longer, shorter or in another letter case', async () => {
    for (const other of [
      'drawbridge-verification=abd',
      `${text.value} `,
      text.value.slice(0, -1),
      text.value.toUpperCase(),
      '',
    ]) {
      server.zone.set(T, [txt(text.host, other)])
      assert.equal(await check(text), 'absent', other)
    }
  })

  test('is missing when the name does not exist, or has no texts', async () => {
    assert.equal(await check(text), 'absent')
    server.zone.set(T, [])
    assert.equal(await check(text), 'absent')
  })

  test('is found behind an alias', async () => {
    server.zone.set(T, [cname(text.host, 'proof.example.net'), txt('proof.example.net', text.value)])
    assert.equal(await check(text), 'verified')
  })

  test('is asked for over TCP when it is too long for UDP', async () => {
    server.truncates = true
    const others = Array.from({ length: 60 }, (_, i) => txt(text.host, `${i}`.repeat(100)))
    server.zone.set(T, [...others, txt(text.host, text.value)])
    assert.equal(await check(text), 'verified')
    assert(server.queries.includes(`tcp ${T}`))
  })

  test('is unknown when no server answers the query', async () => {
    for (const failure of ['SERVFAIL', 'REFUSED', 'silence'] as const) {
      server.zone.set(T, failure)
      assert.equal(await check(text), 'unknown', failure)
    }
    assert.equal(await checkRecords({ ...options, servers: ['127.0.0.1:1'] }, [text]), 'unknown')
  })

  test('is found by the second server when the first is dead', async () => {
    server.zone.set(T, [txt(text.host, text.value)])
    assert.equal(await checkRecords({ ...options, servers: ['127.0.0.1:1', server.address] }, [text]), 'verified')
  })
})

describe('an alias in DNS', () => {
  test('leads to the name in any letter case', async () => {
    server.zone.set(C, [cname(alias.host, 'LAB.Example.ORG')])
    assert.equal(await check(alias), 'verified')
  })

  test('leads there over others', async () => {
    server.zone.set(C, [cname(alias.host, 'edge.example.net')])
    server.zone.set('CNAME edge.example.net', [cname('edge.example.net', 'inner.example.net')])
    server.zone.set('CNAME inner.example.net', [cname('inner.example.net', 'lab.example.org')])
    assert.equal(await check(alias), 'verified')
  })

  test('that ends elsewhere, nowhere or in a circle does not', async () => {
    server.zone.set(C, [cname(alias.host, 'elsewhere.example.net')])
    assert.equal(await check(alias), 'absent')
    server.zone.set('CNAME elsewhere.example.net', [])
    assert.equal(await check(alias), 'absent')
    server.zone.set('CNAME elsewhere.example.net', [cname('elsewhere.example.net', alias.host)])
    assert.equal(await check(alias), 'absent')
    server.zone.set(C, [cname(alias.host, 'xlab.example.org')])
    assert.equal(await check(alias), 'absent')
  })

  test('is followed eight steps and no further', async () => {
    const chain = (length: number) => {
      server.zone.clear()
      const names = [alias.host, ...Array.from({ length: length - 1 }, (_, i) => `step-${i}.example.net`), alias.value]
      for (let i = 0; i < length; i++) server.zone.set(`CNAME ${names[i]}`, [cname(names[i]!, names[i + 1]!)])
    }
    chain(8)
    assert.equal(await check(alias), 'verified')
    chain(9)
    assert.equal(await check(alias), 'absent')
  })

  test('a broken alias chain is unknown', async () => {
    server.zone.set(C, [cname(alias.host, 'edge.example.net')])
    server.zone.set('CNAME edge.example.net', 'SERVFAIL')
    assert.equal(await check(alias), 'unknown')
  })
})

describe('several records', () => {
  test('are all needed; one that is surely missing decides', async () => {
    server.zone.set(T, [txt(text.host, text.value)])
    assert.equal(await check(text, alias), 'absent')
    server.zone.set(C, 'SERVFAIL')
    assert.equal(await check(text, alias), 'unknown')
    server.zone.delete(T)
    assert.equal(await check(text, alias), 'absent')
    server.zone.set(T, [txt(text.host, text.value)]).set(C, [cname(alias.host, alias.value)])
    assert.equal(await check(text, alias), 'verified')
  })

  test('stops at the deadline regardless of query timeouts', async () => {
    server.zone.set(T, 'silence').set(C, 'silence')
    const patient = { ...options, timeout_ms: 300_000, tries: 10, deadline_ms: 100 }
    assert.equal(await checkRecords(patient, [text, alias]), 'unknown')
  })
})
