// Orders as they are stored and as python-hl7 reads the messages that were queued for them, in every preset.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readAllByPython, skipWithoutPythonHl7, textAt } from '../../../test/lab-peers/python-peers.ts'
import { LABORATORY, orderLink, queuedMessages } from '../../../test/support/link-orders.ts'
import { address, createOrder, getOrder, patient } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import type { Question } from '../catalog/schema.ts'
import { presetNames } from '../links/profile/presets.ts'

type Segments = Awaited<ReturnType<typeof readAllByPython>>[number]

/** The texts of a place in all segments with a name. */
const textsAt = (segments: Segments, name: string, place: string): string[] =>
  segments.filter((segment) => segment.name === name).map((_, i) => textAt(segments, `${name}[${i + 1}]-${place}`) ?? '')

describe('the message of an order', { skip: skipWithoutPythonHl7 }, () => {
  test('says what the order says, in every preset', async () => {
    const team = await createTestTeam('production-us')
    const lab_test_id = await team.test('walk_in_test')
    const { markers } = (await team.api.get(`/v3/lab_tests/${lab_test_id}`)).body as {
      markers: { id: number; name: string; provider_id: string; aoe: { questions: Question[] } | null }[]
    }
    const asked = markers.find(({ aoe }) => aoe?.questions.some(({ type }) => type === 'choice'))!
    const question = asked.aoe!.questions.find(({ type }) => type === 'choice')!
    const accounts = await Promise.all(
      presetNames.map((preset) =>
        orderLink(team, {
          account_number: `NUMBER-${preset}`,
          options: { preset, transport: LABORATORY, order_content: { fasting_values: { yes: 'YES', no: 'NO' } } } as never,
        }),
      ),
    )
    const orders = []
    for (const lab_account_id of accounts)
      orders.push(
        await createOrder(team, {
          lab_test_id,
          lab_account_id,
          billing_type: 'commercial_insurance',
          icd_codes: ['E11.9', 'Z00.00'],
          health_insurance: { payor_code: 'AETNA', insurance_id: 'MEMBER-1' },
          physician: { first_name: 'Medica', last_name: "O'Fictional", npi: '1234567893' },
          clinical_notes: 'Line | one\nLine & two',
          priority: true,
          aoe_answers: [{ marker_id: asked.id, question_id: question.id, answer: question.answers[0]!.code }],
        }),
      )
    await team.settle()
    const messages = await Promise.all(accounts.map(async (account) => (await queuedMessages(team, account))[0]!))
    for (const [i, segments] of (await readAllByPython(messages.map(({ bytes }) => bytes))).entries()) {
      const preset = presetNames[i]!
      const order = await getOrder(team, orders[i]!.id)
      const isUs = preset.startsWith('us-')
      const name = (text: string) => (isUs ? text.toUpperCase() : text)
      const at = (place: string) => textAt(segments, place) ?? ''
      const isInsured = isUs || preset === 'loi-lri-251'
      const code = preset === 'us-22' ? ['4.4', '4.5'] : ['4.1', '4.2']
      const number = order.sample_id!
      const numbers =
        preset === 'loi-lri-251' ? markers.map((_, position) => `${number}-${position + 1}`) : markers.map(() => number)
      assert.deepEqual(
        {
          control_id: at('MSH-10'),
          names: [at('PID-5'), at('PID-5.2')],
          dob: at('PID-7'),
          sex: at('PID-8'),
          address: [at('PID-11'), at('PID-11.3'), at('PID-11.4'), at('PID-11.5'), at('PID-11.6')],
          phone: at('PID-13').replaceAll(/\D/gu, '').slice(-10),
          patient_id: at('PID-3'),
          controls: textsAt(segments, 'ORC', '1'),
          numbers: [textsAt(segments, 'ORC', '2'), textsAt(segments, 'OBR', '2')],
          physician: [at('ORC-12'), at('ORC-12.2'), at('ORC-12.3'), at('OBR-16')],
          tests: textsAt(segments, 'OBR', code[0]!),
          test_names: textsAt(segments, 'OBR', code[1]!),
          account: isUs ? at('PID-18') : at('ORC-21.10'),
          priority: [
            ...textsAt(segments, 'TQ1', '9'),
            ...textsAt(segments, 'OBR', '5'),
            ...textsAt(segments, 'OBR', '27.6'),
          ].filter(Boolean),
          notes: textsAt(segments, 'NTE', '3'),
          diagnoses: [...new Set(textsAt(segments, 'DG1', '3'))],
          insurance: [at('IN1-3'), at('IN1-36'), at('IN1-16.2')],
          answer: [at('OBX-3'), at('OBX-3.2'), at('OBX-5'), at('OBX-5.2')],
          fasting: question.code === 'FSTING' ? at('OBR-13') : '',
        },
        {
          control_id: messages[i]!.control_id,
          names: [name(patient.last_name), name(patient.first_name)],
          dob: patient.dob.replaceAll('-', ''),
          sex: patient.gender.charAt(0).toUpperCase(),
          address: [address.first_line, address.city, address.state, address.zip, 'US'],
          phone: patient.phone_number.slice(-10),
          patient_id: order.user_id,
          controls: markers.map(() => 'NW'),
          numbers: [numbers, numbers],
          physician: ['1234567893', name("O'Fictional"), name('Medica'), '1234567893'],
          tests: markers.map(({ provider_id }) => provider_id),
          test_names: markers.map((marker) => marker.name),
          account: `NUMBER-${preset}`,
          priority: markers.map(() => 'S'),
          notes: ['Line | one', 'Line & two'],
          diagnoses: preset === 'ihe-ltw' || preset === 'au-24' ? [] : ['E11.9', 'Z00.00'],
          insurance: isInsured ? ['AETNA', 'MEMBER-1', name(patient.first_name)] : ['', '', ''],
          answer: [question.code, question.value, question.answers[0]!.code, question.answers[0]!.value],
          fasting: question.code === 'FSTING' ? 'YES' : '',
        },
        preset,
      )
    }
  })
})
