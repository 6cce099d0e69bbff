// Every layout of the corpus.
import type { Layout } from '../language.ts'
import { britain } from './britain.ts'
import { direct } from './direct.ts'
import { europeAndAfrica } from './europe-and-africa.ts'
import { indiaContinued } from './india-continued.ts'
import { india } from './india.ts'
import { pacific } from './pacific.ts'
import { southEastAsia } from './south-east-asia.ts'
import { unitedStatesHospitals } from './united-states-hospitals.ts'
import { unitedStates } from './united-states.ts'

export const layouts: readonly Layout[] = [
  ...unitedStates,
  ...unitedStatesHospitals,
  ...direct,
  ...britain,
  ...india,
  ...indiaContinued,
  ...pacific,
  ...southEastAsia,
  ...europeAndAfrica,
]
