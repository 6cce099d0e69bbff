// Layouts that stand for reports that nobody tuned the parser on: chosen before the parser read any.
import type { Layout } from '../language.ts'

const HELD_OUT = new Set([
  'au-cumulative-monospace',
  'ca-province-b',
  'de-english',
  'direct-wide-cards',
  'gb-practice-summary',
  'ie-hospital',
  'in-laboratory-lakh',
  'in-town-laboratory',
  'ng-diagnostics',
  'us-clinic-previous-first',
  'us-hospital-chart',
  'fi-english-prefixed-names',
  'my-panel-three-columns-of-flags',
  'us-clinic-fax-two-column-chem',
  'us-esoteric-antibody-index',
  'us-hematology-smear-and-morphology',
  'gb-record-export-brackets',
  'us-saliva-hormones-ranges-by-time',
  'browser-41',
  'browser-42',
  'browser-43',
  'browser-44',
  'browser-45',
  'browser-46',
  'browser-47',
  'browser-48',
  'browser-49',
  'browser-50',
  'browser-51',
  'browser-52',
  'calc-08',
  'writer-14',
  'writer-15',
  'writer-16',
])

export const isHeldOut = ({ name }: Pick<Layout, 'name'>): boolean => HELD_OUT.has(name)

/** For the check that each of them exists. */
export const heldOutNames: ReadonlySet<string> = HELD_OUT
