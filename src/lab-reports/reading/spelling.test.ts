import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spell, spelledPage } from './spelling.ts'

const BOX = { left: 0, top: 0, right: 10, bottom: 10 }

test('words of pictures are spelled as names of results and units are', () => {
  const read: [read: string, spelled: string][] = [
    ['Cholestero!', 'Cholesterol'],
    ['Chiolesterol', 'Cholesterol'],
    ['VITAMlN', 'VITAMIN'],
    ['Vitarmin', 'Vitamin'],
    ['Hemog1obin', 'Hemoglobin'],
    ['(Calcu1ated)', '(Calculated)'],
    ['mg/ciL', 'mg/dL'],
    ['mg/cll', 'mg/dL'],
    ['rng/dL.', 'mg/dL'],
    ['pg/mt.', 'pg/mL'],
    ['g/cL', 'g/dL'],
    ['p9', 'pg'],
    ['L.', 'L'],
    ['8UN', 'BUN'],
    ['x10~9/L', 'x10^9/L'],
    ['x109/L', 'x10⁹/L'],
    ['10-12/L', '10^12/L'],
    ['10~4/µL', '10^4/µL'],
    ['utU/mL', 'uIU/mL'],
    ['W/mL', 'IU/mL'],
    ['mil/cumm', 'mill/cumm'],
    ['mmo1/L', 'mmol/L'],
    ['(L).', '(L)'],
    ['C02', 'CO2'],
    ['p02,', 'pO2,'],
    ['16-0H-E1', '16-OH-E1'],
    ['$O2', 'sO2'],
    ['y-GTP', 'γ-GTP'],
    ['B12.', 'B12'],
    ['Cholesterol.', 'Cholesterol'],
    ['120.', '120'],
    ['Norma', 'Normal'],
    ['TOTA', 'TOTAL'],
    ['lgE', 'IgE'],
    ['Oto19', '0to19'],
    ['OfRange', 'OfRange'],
    ['Oto', '0to'],
    ['0to', '0to'],
    ['3.5to', '3.5to'],
    ['Alc', 'A1c'],
    ['(Iu/L)', '(IU/L)'],
    ['mmolmol', 'mmol/mol'],
    ['[Absant]', '[Absent]'],
    ['x10~6', 'x10^6'],
  ]
  assert.deepEqual(
    read.map(([text]) => [text, spell(text)]),
    read,
  )
})

test('names, numbers and words that reports spell so stay as they are', () => {
  const same = [
    '[Absent]',
    'II',
    'VI',
    '[Pale',
    'Yellow]',
    'Leucocyte',
    'Leukocyte',
    'Haemoglobin',
    'Hemoglobin',
    'mg/L',
    'mg/dL',
    'µmol/L',
    'U/L',
    '4.29',
    '25-OH',
    'T3',
    'Fauxman',
    'HbA1c',
    '/cumm',
    'Oct',
    '<0.5',
    'Total',
    'pH',
    '10^3/uL',
    'BUN',
    'A1c',
    'I',
    'Abs.',
    'B12',
    'T4,Free',
    'G,',
    '10^9/L',
    'R.A.',
    'D02',
  ]
  assert.deepEqual(same.map(spell), same)
})

test('only words of pictures are spelled, and no word that was read for certain', () => {
  const page = (source: 'text' | 'ocr', confidence: number) => ({
    number: 1,
    width: 100,
    height: 100,
    source,
    words: [{ text: 'Cholestero!', box: BOX, confidence }],
  })
  const texts = [page('text', 0.5), page('ocr', 0.99), page('ocr', 0.5)].map((item) => spelledPage(item).words[0]!.text)
  assert.deepEqual(texts, ['Cholestero!', 'Cholestero!', 'Cholesterol'])
})

test('a unit without its last letter gets it back, but a gram in a day stays one', () => {
  const page = (...texts: string[]) => ({
    number: 1,
    width: 100,
    height: 100,
    source: 'ocr' as const,
    words: texts.map((text) => ({ text, box: BOX, confidence: 0.99 })),
  })
  const read = (...texts: string[]) => spelledPage(page(...texts)).words.map(({ text }) => text)
  assert.deepEqual(read('mg/d', 'U/', 'G/I', 'µmol/i', 'mg/dL', 'g/l', 'mg/mmol', 'AND/OR'), [
    'mg/dl',
    'U/l',
    'G/l',
    'µmol/l',
    'mg/dL',
    'g/l',
    'mg/mmol',
    'AND/OR',
  ])
  assert.deepEqual(read('24h', 'g/d'), ['24h', 'g/d'])
})

test('what is in a microliter, and a microgram, is spelled so', () => {
  assert.deepEqual(spelledLine(['109/', 'x1012/L', '103/uL', '106/', '100/L'], 30), [
    '10⁹/L',
    'x10¹²/L',
    '10³/uL',
    '10⁶/L',
    '100/L',
  ])
  assert.deepEqual(spelledLine(['luL', 'IuL', 'mmHg'], 30), ['/uL', '/uL', 'mmHg'])
  assert.deepEqual(spelledLine(['Hg/dL', 'Hg/d', 'µg/d.'], 30), ['µg/dL', 'µg/dl', 'µg/dl'])
})

test('the last letter of a count in microliters is not lost', () => {
  assert.deepEqual(spelledLine(['M/u', '10^3/u', 'Thousand/u|', 'and/u']), ['M/uL', '10^3/uL', 'Thousand/uL', 'and/u'])
})

test('signs of units are those that most units of the page have', () => {
  assert.deepEqual(spelledLine(['µg/dL', 'K/µL', 'µmol/L', 'K/uL', 'umol/L']), ['µg/dL', 'K/µL', 'µmol/L', 'K/µL', 'µmol/L'])
  assert.deepEqual(spelledLine(['µg/dL', 'K/uL', 'umol/L']), ['µg/dL', 'K/uL', 'umol/L'])
  assert.deepEqual(spelledLine(['x', '10^9/L', 'x10^9/L', '×', '10^12/L', '×']), ['x', '10^9/L', 'x10^9/L', 'x', '10^12/L', '×'])
})

test('a unit and the bracket behind it are two words, and letters with a space within are one', () => {
  assert.deepEqual(spelledLine(['5.1', 'mmol/L(normal', '3.5']), ['5.1', 'mmol/L', '(normal', '3.5'])
  assert.deepEqual(spelledLine(['HEMOGLOBIN', 'A1', 'C']), ['HEMOGLOBIN', 'A1C'])
})

test('a weak ampersand is a percent sign', () => {
  const sign = (confidence: number) =>
    spelledPage({ number: 1, width: 100, height: 100, source: 'ocr', words: [{ text: '&', box: BOX, confidence }] }).words[0]!
      .text
  assert.deepEqual([sign(0.3), sign(0.99)], ['%', '&'])
})

/** The texts of words in a line of a picture, each behind the one before. @param gap between them, in points */
const spelledLine = (texts: readonly string[], gap = 3): string[] => {
  let left = 0
  const words = texts.map((text) => {
    const box = { left, top: 0, right: left + text.length * 5, bottom: 10 }
    left = box.right + gap
    return { text, box, confidence: 0.9 }
  })
  return spelledPage({ number: 1, width: 600, height: 800, source: 'ocr', words }).words.map(({ text }) => text)
}

test('spaces next to brackets and commas are those that the other names of the page have', () => {
  const usual = ['Iron', '(Fe)', 'Ferritin,', 'Ratio', '(AG)', 'Zinc,', 'Lead', '(Pb)', 'Copper,']
  assert.deepEqual(spelledLine([...usual, 'Hemoglobin(Hgb)', 'Vitamin', 'D,25-Hydroxy']).slice(-5), [
    'Hemoglobin',
    '(Hgb)',
    'Vitamin',
    'D,',
    '25-Hydroxy',
  ])
  // Names that laboratories print so, and pages that have no spaces there.
  assert.deepEqual(spelledLine([...usual, 'Testosterone(Direct)', 'Lipoprotein(a)']).slice(-2), [
    'Testosterone(Direct)',
    'Lipoprotein(a)',
  ])
  assert.deepEqual(spelledLine(['Hemoglobin(Hgb)', 'D,25-Hydroxy']), ['Hemoglobin(Hgb)', 'D,25-Hydroxy'])
})

test('the label of ranges below rows is spelled as such, whichever of its small letters were read wrong', () => {
  for (const texts of [
    ['Biq.', 'Ref.', 'mterval.:'],
    ['Bu).', 'Ref.', 'hiterva..'],
    ['Bip,', 'Rel', 'ntervai.:'],
  ])
    assert.deepEqual(spelledLine([...texts, '15']), ['Bio.', 'Ref.', 'Interval:', '15'])
  assert.deepEqual(spelledLine(['Bro.Ref.', 'intervai']), ['Bio.Ref.', 'Interval:'])
  assert.deepEqual(spelledLine(['Blood', 'Ref.', 'Intervention']), ['Blood', 'Ref.', 'Intervention'])
})

test('a result and the pluses of its flag are two words, and pluses behind a single digit are the result', () => {
  assert.deepEqual(spelledLine(['7.8+', '125++', '3+'], 30), ['7.8', '+', '125', '++', '3+'])
})

test('signs of units are those that most units of the page have', () => {
  assert.deepEqual(spelledLine(['µg/L', 'µmol/L', 'ug/dL'], 30), ['µg/L', 'µmol/L', 'µg/dL'])
  assert.deepEqual(spelledLine(['ug/L', 'umol/L', 'µg/dL'], 30), ['ug/L', 'umol/L', 'µg/dL'])
  assert.deepEqual(spelledLine(['x10^9/L', 'x10^9/L', '×10~9/L'], 30), ['x10^9/L', 'x10^9/L', 'x10^9/L'])
  assert.deepEqual(spelledLine(['x10^9/L', '×10^9/L'], 30), ['x10^9/L', '×10^9/L'])
})

test('letters of a word that stand next to a gap belong to the word that reports print', () => {
  assert.deepEqual(spelledLine(['Optima', 'lzone', '30-400'], 2.5), ['Optimal', 'zone', '30-400'])
  assert.deepEqual(spelledLine(['NEUTROPHIL', 'S'], 1), ['NEUTROPHILS'])
  assert.deepEqual(spelledLine(['Norma', 'l35', 'to', '52'], 2.5), ['Normal', '35', 'to', '52'])
  assert.deepEqual(spelledLine(['Norma', 'lup', 'to', '40'], 2.5), ['Normal', 'up', 'to', '40'])
  assert.deepEqual(spelledLine(['Tota', 'l(Bicarbonate)'], 2.5), ['Total', '(Bicarbonate)'])
  assert.deepEqual(spelledLine(['BUN/CreatinineRatio']), ['BUN/Creatinine', 'Ratio'])
})

test('an s in front of a number is the sign of an upper bound, and behind it a second', () => {
  assert.deepEqual(spelledLine(['Reference:', 's', '130']), ['Reference:', '≤', '130'])
  assert.deepEqual(spelledLine(['12.2', 's', '11.0', '-', '13.5']), ['12.2', 's', '11.0', '-', '13.5'])
})

test('a nanogram in what is left of a milliliter is one in a milliliter', () => {
  assert.deepEqual(spelledLine(['ng/m.', 'ng/m..', 'uIU/m', 'g/m2'], 30), ['ng/mL', 'ng/mL', 'uIU/mL', 'g/m2'])
})

test('a round sign behind ten is a raised nine where cells of blood are counted, and stays as read elsewhere', () => {
  const unitsOf = (...lines: [name: string, unit: string][]) => {
    const words = lines.flatMap(([name, unit], index) =>
      [name, unit].map((text, column) => ({
        text,
        confidence: 0.9,
        box: { left: column * 200, right: column * 200 + 50, top: index * 20, bottom: index * 20 + 10 },
      })),
    )
    const page = spelledPage({ number: 1, width: 612, height: 792, source: 'ocr', words })
    return page.words.filter(({ box }) => box.left >= 200).map(({ text }) => text)
  }
  assert.deepEqual(unitsOf(['Platelets', 'x10%/L'], ['Neutrophils', 'x10°%/L'], ['WBC', '10°L']), ['x10⁹/L', 'x10⁹/L', '10⁹/L'])
  assert.deepEqual(unitsOf(['Copies', 'x10%/L']), ['x10%/L'])
  assert.deepEqual(unitsOf(['Leucocytes', 'x10°/L'], ['CSF', '']), ['x10°/L', ''])
})

test('strokes behind a word that has a Roman number are one', () => {
  assert.equal(spelledLine(['Troponin', '1,', 'High', 'Sensitivity']).join(' '), 'Troponin I, High Sensitivity')
  assert.equal(spelledLine(['Antithrombin', 'lll']).join(' '), 'Antithrombin III')
  assert.equal(spelledLine(['Vitamin', 'Bl,', 'Whole', 'Blood'], 8).join(' '), 'Vitamin B1, Whole Blood')
  assert.equal(spelledLine(['Vitamin', 'BI2']).join(' '), 'Vitamin B12')
  // Laboratories print both numbers, or none.
  for (const same of ['Coxsackie 1', 'Glucose 1', 'RA Latex Turbid.']) assert.equal(spelledLine(same.split(' ')).join(' '), same)
})

test('words that look like a label which a page repeats are that label, and other words stay', () => {
  const label = ['Normal', 'range:']
  const labels = [...label, ...label, ...label, ...label]
  assert.equal(spelledLine([...labels, 'Nomol', 'rarne:', 'Rubella']).join(' '), [...labels, ...label, 'Rubella'].join(' '))
  assert.equal(spelledLine([...label, 'rarne:']).join(' '), 'Normal range: rarne:')
})

test('a bracket that was not seen is there again where other texts are in brackets', () => {
  const spelled = (texts: string[], pitch = 0) =>
    spelledPage({
      number: 1,
      width: 600,
      height: 800,
      source: 'ocr',
      words: texts.map((text, index) => ({
        text,
        confidence: 0.9,
        box: { left: 20 + index * (40 + pitch), right: 60 + index * 40, top: 20, bottom: 30 },
      })),
    }).words.map(({ text }) => text)
  assert.deepEqual(spelled(['[Nil]', '[Clear]', '[0-5]', '[Absent'], 20), ['[Nil]', '[Clear]', '[0-5]', '[Absent]'])
  assert.deepEqual(spelled(['[Nil]', '[Absent'], 20), ['[Nil]', '[Absent'])
  assert.deepEqual(spelled(['[Nil]', '[Clear]', '[0-5]', '[5.0'], 20), ['[Nil]', '[Clear]', '[0-5]', '[5.0'])
})

test('dots that lead to a result are no part of the colon in front of it', () => {
  const texts: [read: string, spelled: string][] = [
    ['.:', ':'],
    ['..:.Normal', ':Normal'],
    ['-:3-4/hpf', ':3-4/hpf'],
    [':.5', ':.5'],
    ['1:.5', '1:.5'],
    ['.:.5', ':.5'],
  ]
  const words = texts.map(([text], index) => ({ text, confidence: 1, box: { ...BOX, top: index * 30, bottom: index * 30 + 10 } }))
  const page = spelledPage({ number: 1, width: 9, height: 400, source: 'ocr', words })
  assert.deepEqual(
    page.words.map(({ text }) => text),
    texts.map(([, text]) => text),
  )
})

test('a unit without its slash is spelled, however certain its letters are', () => {
  const words = [{ text: 'mmolmol', confidence: 1, box: BOX }]
  assert.equal(spelledPage({ number: 1, width: 9, height: 9, source: 'ocr', words }).words[0]!.text, 'mmol/mol')
})
