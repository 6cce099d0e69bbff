// What a printed report looks like, drawn for its name: the same name draws the same style.
import type { FlagStyle, Layout, RangeStyle } from '../language.ts'
import type { PanelKey } from '../panels.ts'
import type { Random } from '../random.ts'
import { SPELLINGS } from '../units.ts'
import type { Look } from './model.ts'

export type ColumnKind =
  | 'name'
  | 'value'
  | 'value and units'
  | 'value and flag'
  | 'flag'
  | 'word'
  | 'units'
  | 'range'
  | 'low'
  | 'high'
  | 'previous'
  | 'laboratory'
  | 'method'
  | 'sample'
  | 'collected'
  | 'panel'

/** How the particulars of the patient are printed. */
export type ParticularsForm = 'pairs' | 'inline' | 'stacked' | 'table'

export interface PrintedStyle {
  look: Look
  layout: Layout
  /** Columns of the first table, and of those after it. */
  columns: ColumnKind[]
  laterColumns: ColumnKind[]
  /** How the tables are as wide as they are. `narrow`: names, values and titles wrap. */
  width: 'contents' | 'page' | 'narrow'
  /** Names of columns break where the laboratory breaks them. */
  breaksTitles: boolean
  /** Where panels are named. */
  panels: 'headings' | 'rows' | 'column' | 'none'
  /** In the names of the columns where a table has one unit, as `(mmol/L)` or `[mmol/L]`; the tables have the rows of one unit. */
  unitInTitle: 'brackets' | 'square brackets' | undefined
  hasLongNames: boolean
  hasDecimalCommas: boolean
  /** Numbers stand at the right or in the middle of their columns. */
  numberAlign: 'left' | 'right' | 'center'
  isBoldOutside: boolean
  particulars: ParticularsForm
  /** The day and the time of collection stand in cells of their own. */
  splitsTimes: boolean
  hasRemarks: boolean
  /** The tables have no names of columns. */
  hasNoTitles?: boolean
  /** Tables stand beside each other, two by two. */
  isSideBySide?: boolean
}

/** What reports that are held out have and others do not, and the reverse. */
const FONTS = {
  usual: ['Liberation Sans', 'Liberation Sans', 'Liberation Serif', 'DejaVu Sans'],
  heldOut: ['Liberation Sans Narrow', 'DejaVu Serif', 'Liberation Sans', 'DejaVu Sans Condensed'],
}

const TABLES: ColumnKind[][] = [
  ['name', 'value', 'units', 'range', 'flag'],
  ['name', 'value', 'flag', 'units', 'range', 'laboratory'],
  ['name', 'value', 'flag', 'range', 'units'],
  ['name', 'range', 'value', 'units'],
  ['name', 'method', 'value', 'units', 'range'],
  ['name', 'value', 'previous', 'units', 'range', 'flag'],
  ['name', 'value', 'units', 'range', 'previous'],
  ['name', 'value and units', 'range', 'flag'],
  ['name', 'value', 'units', 'low', 'high', 'flag'],
  ['name', 'flag', 'value', 'units', 'range'],
  ['name', 'collected', 'value', 'units', 'range'],
  ['name', 'value and flag', 'units', 'range'],
  ['sample', 'name', 'value', 'units', 'range', 'word'],
  ['name', 'value', 'units', 'range'],
]

const RANGES: RangeStyle[] = [
  { bothSexes: '{l} - {h}', max: '< {h}', min: '> {l}' },
  { bothSexes: '{l}-{h}', max: '<{h}', min: '>{l}' },
  { bothSexes: '{l} – {h}', max: '≤ {h}', min: '≥ {l}' },
  { bothSexes: '{l} to {h}', max: 'up to {h}', min: 'above {l}' },
  { bothSexes: '({l} - {h})', max: '(< {h})', min: '(> {l})', noRange: '-' },
]

const FLAGS: FlagStyle[] = [
  { low: 'L', high: 'H', criticalLow: 'LL', criticalHigh: 'HH', abnormal: 'A' },
  { low: 'Low', high: 'High', abnormal: 'Abnormal' },
  { low: 'Low', high: 'High', abnormal: 'Abnormal', normal: 'Normal' },
  { low: '↓', high: '↑', abnormal: '!' },
  { low: 'L', high: 'H', abnormal: 'A', normal: 'N' },
]

const POOL: PanelKey[] = (
  'cmp bmp renal liver lipids cbc_shares cbc_counts thyroid iron vitamins diabetes hormones bone inflammation cardiac ' +
  'cardiac_acute coagulation immunology rheumatology urinalysis urinalysis_micro hepatitis serology sexual_health toxicology microalbumin'
).split(' ') as PanelKey[]
/** Panels whose results mostly share one unit. */
const ONE_UNIT: PanelKey[] = ['electrolytes', 'liver', 'lipids', 'immunology', 'cbc_shares', 'pancreas', 'bmp']

export function createStyle(name: string, random: Random, isHeldOut: boolean): PrintedStyle {
  const style = drawnStyle(name, random, isHeldOut)
  const plain = { ...style, panels: 'headings', hasLongNames: false } as const
  if (name.startsWith('bare')) return { ...plain, ...withColumns(random.fork('bare').pick(BARE)), hasNoTitles: true }
  if (name.startsWith('beside')) return { ...plain, ...withColumns(random.fork('beside').pick(BARE)), isSideBySide: true }
  return style
}

/** Columns that show by their contents what they are. */
const BARE: ColumnKind[][] = [
  ['name', 'value', 'units', 'range'],
  ['name', 'value', 'flag', 'units', 'range'],
  ['name', 'value', 'units', 'range', 'flag'],
  ['name', 'value', 'range', 'units'],
]

const withColumns = (columns: ColumnKind[]): Partial<PrintedStyle> => ({
  columns,
  laterColumns: columns,
  width: 'contents',
  unitInTitle: undefined,
  hasRemarks: false,
})

function drawnStyle(name: string, random: Random, isHeldOut: boolean): PrintedStyle {
  const look = createLook(random.fork('look'), isHeldOut)
  const columns = random.pick(TABLES)
  const width = random.pick(['contents', 'page', 'page', 'narrow', 'narrow'] as const)
  const unitInTitle = random.chance(0.25) ? random.pick(['brackets', 'brackets', 'square brackets'] as const) : undefined
  const hasDecimalCommas = random.chance(0.15)
  const layout = createLayout(name, random.fork('layout'), { hasDecimalCommas, unitInTitle, look })
  return {
    look,
    layout,
    columns,
    laterColumns: random.chance(0.3) ? random.pick(TABLES) : columns,
    width,
    breaksTitles: random.chance(0.5),
    panels: random.pick(['headings', 'headings', 'rows', 'rows', 'column', 'none']),
    unitInTitle,
    hasLongNames: random.chance(0.6),
    hasDecimalCommas,
    numberAlign: random.pick(['left', 'left', 'right', 'center']),
    isBoldOutside: random.chance(0.4),
    particulars: random.pick(['pairs', 'inline', 'stacked', 'table']),
    splitsTimes: random.chance(0.4),
    hasRemarks: random.chance(0.3),
  }
}

function createLook(random: Random, isHeldOut: boolean): Look {
  return {
    page: random.pick(['a4', 'letter']),
    isLandscape: random.chance(0.2),
    margin_pt: random.integer(24, 56),
    font: random.pick(isHeldOut ? FONTS.heldOut : FONTS.usual),
    size_pt: random.pick(isHeldOut ? [8, 9.5, 10.5] : [7.5, 8.5, 9, 10, 11]),
    vertical: random.pick(['top', 'middle', 'middle', 'bottom']),
    verticalOfHeader: random.pick(['top', 'middle', 'middle', 'bottom']),
    padding_pt: [random.pick([1, 2, 3]), random.pick([3, 3.5, 4, 6, 9])],
    rules: random.pick(['grid', 'rows', 'header', 'none']),
    zebra: random.chance(0.35) ? random.pick(['#f0f3f7', '#eeeeee', '#e6f2e6']) : undefined,
    band: random.chance(0.35) ? random.pick(['#dde5ee', '#e8e8e8']) : undefined,
  }
}

function createLayout(
  name: string,
  random: Random,
  { hasDecimalCommas, unitInTitle, look }: Pick<PrintedStyle, 'hasDecimalCommas' | 'unitInTitle' | 'look'>,
): Layout {
  const dialect = random.pick(['us', 'uk', 'in'] as const)
  const dates = random.pick(
    hasDecimalCommas
      ? [
          { day: 'DD.MM.YYYY', time: 'DD.MM.YYYY HH:mm' },
          { day: 'YYYY-MM-DD', time: 'YYYY-MM-DD HH:mm' },
        ]
      : [
          { day: 'DD MMM YYYY', time: 'DD MMM YYYY HH:mm' },
          { day: 'MM/DD/YYYY', time: 'MM/DD/YYYY hh:mm A' },
          { day: 'YYYY-MM-DD', time: 'YYYY-MM-DD HH:mm' },
          { day: 'D MMMM YYYY', time: 'D MMMM YYYY, HH:mm' },
        ],
  )
  const [town, kind] = [
    random.pick(['Sampleville', 'Testborough', 'Exampleton', 'Fauxbury']),
    random.pick(['Clinical Laboratory', 'Diagnostics', 'Hospital Laboratory', 'Pathology']),
  ]
  const isLong = random.chance(0.3)
  return {
    name,
    country: 'XX',
    page: look.page,
    lab: { name: `${town} ${kind}`, address: '12 Invented Street, Mockhaven', phone: '555-0142' },
    people: random.pick(['western', 'western', 'indian', 'asian', 'african', 'arab']),
    names: random.pick(['{First} {Last}', '{Last}, {First}', '{LAST}, {First}', '{Last}, {First}[ {Middle}]']),
    sexes: random.pick([
      { male: 'Male', female: 'Female' },
      { male: 'M', female: 'F' },
    ]),
    dates,
    specimen: random.pick(['S-######', '##-####-##', '@@######', '########']),
    dialect,
    si: dialect === 'uk' || hasDecimalCommas || random.chance(0.15),
    units: dialect === 'us' ? {} : SPELLINGS.uk,
    ranges: random.pick(RANGES),
    flags: random.pick(FLAGS),
    panels: random.shuffle(unitInTitle ? ONE_UNIT : POOL),
    panelCount: isLong ? 5 : random.integer(2, 3),
    comparators: random.chance(0.5),
    dateCount: 2,
    first: [],
    body: { kind: 'sentences', text: '', panel: {} },
  }
}
