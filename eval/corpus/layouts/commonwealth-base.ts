// What laboratories outside of the United States that report in SI units have in common.
import type { Layout } from '../language.ts'
import { SPELLINGS } from '../units.ts'

export const commonwealth = {
  page: 'a4',
  people: 'western',
  dialect: 'uk',
  si: true,
  names: '{LAST}, {First}',
  sexes: { male: 'M', female: 'F' },
  units: SPELLINGS.ukPower,
} satisfies Partial<Layout>
