import assert from 'node:assert/strict'
import { test } from 'node:test'
import { profile, toProfile } from '../../../test/support/link-messages.ts'
import { explainNoLink, findLinkForMessage } from './find-link.ts'
import { acceptsProcessingId, isLiveFor, linkModes, processingId } from './link-modes.ts'
import type { ProfileOptions } from './profile/link-profile.ts'

const link = (account_number: string, identity: ProfileOptions['identity'] = {}) => ({
  account_number,
  profile: toProfile({ ...profile, identity }),
})
type Link = ReturnType<typeof link>

/** @param parties MSH-3, MSH-4 and MSH-6 */
const findNumber = (parties: string, ...links: Link[]): string => {
  const [sendingApplication = '', sendingFacility = '', receivingFacility = ''] = parties.split(' ')
  return findLinkForMessage({ sendingApplication, sendingFacility, receivingFacility }, links)?.account_number ?? 'none'
}

test('a link alone at its listener accepts every message, unless its profile names senders or receivers', () => {
  assert.equal(findNumber('LIS NORTH 9', link('1')), '1')
  assert.equal(findNumber('LIS^1.2.3^ISO NORTH^99D0000001^CLIA', link('1', { sender_applications: ['LIS'] })), '1')
  assert.equal(findNumber('LIS^1.2.3', link('1', { sender_applications: ['LIS^9.9.9'] })), 'none')
  const named = link('1', {
    sender_applications: ['LIS'],
    sender_facilities: ['NORTH', 'SOUTH'],
    receiver_facilities: ['CLINIC'],
  })
  assert.equal(findNumber('LIS SOUTH CLINIC', named), '1')
  for (const parties of ['LIS EAST CLINIC', 'OTHER SOUTH CLINIC', 'LIS SOUTH 1', 'LIS SOUTH', ''])
    assert.equal(findNumber(parties, named), 'none', parties)
})

test('links of two laboratories at one listener are distinguished by the sender', () => {
  const [north, south] = [link('1', { sender_facilities: ['NORTH'] }), link('2', { sender_facilities: ['SOUTH'] })]
  assert.equal(findNumber('LIS NORTH', north, south), '1')
  assert.equal(findNumber('LIS SOUTH', north, south), '2')
  assert.equal(findNumber('LIS EAST', north, south), 'none')
})

test('links of two accounts of one laboratory are distinguished by the account, and no account means no link', () => {
  const links = [link('1'), link('2'), link('3', { receiver_facilities: ['CLINIC'] })]
  assert.equal(findNumber('LIS NORTH 2', ...links), '2')
  assert.equal(findNumber('LIS NORTH CLINIC', ...links), '3')
  for (const parties of ['LIS NORTH 3', 'LIS NORTH', 'LIS NORTH 4']) assert.equal(findNumber(parties, ...links), 'none', parties)
})

test('a message that two links accept belongs to none', () => {
  assert.equal(findNumber('LIS NORTH 1', link('1'), link('2', { receiver_facilities: ['1'] })), 'none')
})

test('a message without a link is explained by the name that does not fit, without a text of the message', () => {
  const explain = (parties: string, ...links: Link[]): string => {
    const [sendingApplication = '', sendingFacility = '', receivingFacility = ''] = parties.split(' ')
    assert.equal(findNumber(parties, ...links), 'none')
    const text = explainNoLink({ sendingApplication, sendingFacility, receivingFacility }, links)
    for (const name of parties.split(' ')) assert(!text.includes(name), text)
    return text
  }
  const named = link('1', { sender_applications: ['LIS'], sender_facilities: ['NORTH'], receiver_facilities: ['CLINIC'] })
  const other = link('2', { sender_applications: ['APP'], sender_facilities: ['SOUTH'], receiver_facilities: ['CLINIC'] })
  assert.match(explain('LIS-2 NORTH CLINIC', named), /^The sender in MSH-3 is not in identity.sender_applications/)
  assert.match(explain('LIS NORTH-2 CLINIC', named, other), /^The sender in MSH-4 is not in identity.sender_facilities/)
  assert.match(explain('LIS SOUTH CLINIC', named, other), /^The senders in MSH-3 and MSH-4 are those of different links/)
  assert.match(
    explain('LIS NORTH WARD', named),
    /^The sender fits, but the receiver in MSH-6 is not in identity.receiver_facilities$/,
  )
  assert.match(explain('LIS NORTH 9999', link('1'), link('2')), /the receiver in MSH-6 is not .* the account number/)
  assert.match(explain('LIS NORTH CLINIC', named, named), /^Several links accept the sender and the receiver$/)
  assert.match(explainNoLink(undefined, [named, other]), /no header/)
})

test('the mode live_for_team is live for its team alone', () => {
  assert.deepEqual(
    linkModes.map((mode) => [isLiveFor({ mode, live_team_id: 'A' }, 'A'), isLiveFor({ mode, live_team_id: 'A' }, 'B')]),
    [
      [false, false],
      [false, false],
      [false, false],
      [true, false],
      [true, true],
    ],
  )
})

test('orders of production alone are sent as production messages, unless the link is tested', () => {
  assert.deepEqual(
    linkModes.map((mode) => processingId('production-us', mode)),
    ['P', 'T', 'P', 'P', 'P'],
  )
  assert(linkModes.every((mode) => processingId('sandbox-eu', mode) === 'T'))
})

test('in production a test message is accepted in mode test alone, and nothing else there', () => {
  const { profile: strict } = link('1')
  const accepted = (mode: 'test' | 'live', ids = ['P', 'T', 'D', '']) =>
    ids.filter((id) => acceptsProcessingId(id, 'production-us', mode, strict))
  assert.deepEqual(
    [accepted('test'), accepted('live')],
    [
      ['T', 'D', ''],
      ['P', ''],
    ],
  )
  assert(acceptsProcessingId('P', 'sandbox-us', 'test', strict))
  assert(acceptsProcessingId('T', 'production-us', 'live', link('1', { processing_ids: 'ignore' }).profile))
})
