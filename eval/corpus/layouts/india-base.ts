// What laboratories of India have in common.
import type { Layout } from '../language.ts'

export const indian = {
  country: 'IN',
  page: 'a4',
  people: 'indian',
  dialect: 'in',
  names: '{Title}. {FIRST} {LAST}',
  sexes: { male: 'Male', female: 'Female' },
  dates: { day: 'DD/MM/YYYY', time: 'DD/MM/YYYY hh:mm A' },
  ranges: { bothSexes: '{l} - {h}', max: '< {h}', min: '> {l}' },
  flags: {},
} satisfies Partial<Layout>
