// A fictional laboratory that is known by its description alone (brackwater.md). Its profile (brackwater.profile.json) was made from the
// description.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { writeOrder } from '../../src/lab/link-orders/order-message.ts'
import { readProfileFile, wholeProfile } from '../../src/lab/links/profile/read-profile.ts'
import { fullContent } from '../support/requisition-contents.ts'
import { readByPython, skipWithoutPythonHl7, textAt } from './python-peers.ts'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const profile = wholeProfile(readProfileFile(JSON.parse(read('brackwater.profile.json'))))

describe('a laboratory that is known by its description alone', () => {
  test('gets orders as its description demands them', { skip: skipWithoutPythonHl7 }, async () => {
    const { order } = fullContent
    const content = {
      ...fullContent,
      order: { ...order, sample_id: 'DBL0000004711' },
      patient: { ...fullContent.patient!, first_name: 'Zoë', last_name: 'Müller-Łącka' },
    }
    const [message] = writeOrder({
      action: 'new',
      content,
      profile,
      client_user_id: 'P-1',
      filler_number: null,
      processing_id: 'T',
      now: new Date('2030-07-04T12:00:00Z'),
      newControlId: () => '1',
    })
    const { segments } = await readByPython(message!.bytes, 'ascii')
    const names = segments.map(({ name }) => name)
    assert.deepEqual(
      ['MSH-3', 'MSH-4', 'MSH-5', 'MSH-6', 'MSH-9', 'MSH-9.2', 'MSH-11', 'MSH-12', 'MSH-18'].map(
        (place) => textAt(segments, place) || '',
      ),
      ['CLIENT', 'BW4711', 'BRACKLIS', 'BWD', 'ORM', 'O01', 'T', '2.3', ''],
    )
    assert.deepEqual(
      ['PID-5', 'PID-5.2', 'PID-2', 'PID-3'].map((place) => textAt(segments, place)),
      ['MUELLER-LACKA', 'ZOE', order.user_id, order.user_id],
    )
    assert.match(textAt(segments, 'PID-13')!, /^\d{10}$/)
    assert.deepEqual([textAt(segments, 'OBR-4'), textAt(segments, 'OBR-4.4')], ['', fullContent.tests[0]!.code])
    assert.match(textAt(segments, 'ORC-2')!, /^[A-Z0-9]{1,16}$/)
    assert.deepEqual([textAt(segments, 'ORC-2'), textAt(segments, 'OBR-27.6')], [textAt(segments, 'OBR-2'), 'S'])
    assert.deepEqual(
      names.filter((name) => ['IN1', 'GT1', 'DG1', 'OBX', 'SPM'].includes(name)),
      [],
    )
    assert(names.includes('NTE'))
  })
})
