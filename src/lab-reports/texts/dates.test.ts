import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dateIn, dateOrder, isoWith, withoutDay } from './dates.ts'

const none = { age_years: null, birthDate: undefined, reportDate: undefined }

describe('dates of reports', () => {
  test('written months and ISO dates need no order', () => {
    for (const text of ['Reported 5 Jan 2024', 'January 5, 2024', '05-Jan-2024 10:07', '2024-01-05'])
      assert.equal(dateIn(text)?.iso, '2024-01-05', text)
    assert.equal(dateIn('31/02/2024'), undefined)
    assert.equal(dateIn('no date 12.5'), undefined)
  })

  test('the order of a date of digits is judged from the whole document, and never guessed', () => {
    const date = dateIn('03/04/2024')!
    assert.equal(date.iso, undefined)
    assert.equal(isoWith(date, dateOrder(['03/04/2024', '25/03/2024'], none)), '2024-04-03')
    assert.equal(isoWith(date, dateOrder(['03/04/2024', '03/25/2024'], none)), '2024-03-04')
    assert.equal(isoWith(date, dateOrder(['03/04/2024'], none)), undefined)
  })

  test('British spelling puts the day first, but not where times of twelve hours contradict it', () => {
    assert.equal(dateOrder(['03/04/2024', 'Haemoglobin'], none), 'day first')
    assert.equal(dateOrder(['03/04/2024 17:05', 'Haemoglobin'], none), 'day first')
    assert.equal(dateOrder(['03/04/2024', '08/08/2024 10:05 AM', 'Haemoglobin'], none), 'unknown')
    assert.equal(dateOrder(['03/04/2024', '08/08/2024 10:05 AM', 'Haemoglobin', 'NABL'], none), 'day first')
  })

  test('the age of the patient, and the days between specimen and report, decide the order', () => {
    const birthDate = dateIn('05/06/1990')!
    assert.equal(dateOrder([], { age_years: 30, birthDate, reportDate: dateIn('2020-05-20') }), 'month first')
    assert.equal(dateOrder([], { ...none, collectionDate: dateIn('05/06/2023'), reportDate: dateIn('06/06/2023') }), 'day first')
  })

  test('digits that text recognition divided next to a 1 belong to one date', () => {
    const dates: [text: string, date: string][] = [
      ['1 1/05/2021 03:36 PM', '11/05/2021'],
      ['09/1 0/2025', '09/10/2025'],
      ['04/09/1 965', '04/09/1965'],
      ['1 1/05/202 1', '11/05/2021'],
      ['11/05/21 10:15', '11/05/21'],
      ['No 7 05/06/2023', '05/06/2023'],
    ]
    assert.deepEqual(
      dates.map(([text]) => [text, dateIn(text)?.text]),
      dates,
    )
  })

  test('a text is left without when a specimen was taken, and keeps any other date', () => {
    assert.equal(withoutDay('Thyroid Panel, Collected: 05 Jan 2024 10:07'), 'Thyroid Panel')
    assert.equal(withoutDay('Thyroid Panel (drawn on 2024-01-05)'), 'Thyroid Panel')
    assert.equal(withoutDay('Panel of 2024-01-05'), 'Panel of 2024-01-05')
    assert.equal(withoutDay('Thyroid Panel'), 'Thyroid Panel')
  })
})
