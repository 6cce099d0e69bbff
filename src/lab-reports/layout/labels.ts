// Labels of what a report says about itself, and the texts that belong to them.
import { centerX, heightOf, overlapX } from '../pages/page.ts'
import { dateIn } from './dates.ts'
import type { Cell, Line } from './lines.ts'

export type Field =
  | 'first_name'
  | 'last_name'
  | 'name'
  | 'dob'
  | 'sex'
  | 'sex_age'
  | 'age'
  | 'collected'
  | 'reported'
  | 'received'
  | 'specimen'
  | 'lab'
  | 'other'

/** Labels of reports. The first that fits the beginning of a cell counts, so that the longer ones stand first. */
const LABELS: [Field, RegExp][] = [
  ['first_name', /^(?:patient(?:'s)?\s+)?(?:first|given)\s*name/iu],
  ['last_name', /^(?:patient(?:'s)?\s+)?(?:last|family)\s*name|^surname/iu],
  [
    'other',
    /^(?:name of (?:the )?(?:doctor|physician|referring)|(?:doctor|physician|provider|client|clinic|hospital|account|facility|test|referr\w*|ordering|requesting|consultant|clinician|collector|company|insurance|guardian|father|mother|husband|contact|middle)(?:'s)?\s*(?:\/\s*\w+\s*)?(?:name|by|provider|physician|doctor|dr)?)\b/iu,
  ],
  ['name', /^(?:(?:your |lab |laboratory |test )?(?:results|report|summary)) (?:for|of)(?=\s+\p{Lu})/iu],
  [
    'name',
    /^(?:patient(?:'s)?\s*(?:full\s*)?(?:name)?(?:\s*\((?:last|first|surname).*?\))?|name of (?:the )?patient|full name|client name|name|pt\.?\s*name|patient)(?=\s*[:#]|\s*$|\s{1,}(?!id|no|number|info|data|detail|age|sex|dob|gender|phone|address|demographic|report|history|type|class|location|status|result))/iu,
  ],
  ['dob', /^(?:date of birth|d\.?\s?o\.?\s?b\.?|birth\s*date|birthdate|born(?: on)?|birth)(?:\s*\([^)]*\))?/iu],
  [
    'sex_age',
    /^(?:age\s*[/&,-]\s*(?:sex|gender)|(?:sex|gender)\s*[/&,-]\s*age|age\s+(?:and|&)\s+(?:sex|gender)|age\s*\/\s*(?:sex|gender)|dob\s*\/\s*(?:sex|gender|age)\S*)/iu,
  ],
  ['sex', /^(?:sex|gender|biological sex|sex at birth|legal sex)(?:\s+assigned at birth)?/iu],
  ['age', /^(?:age|patient age)(?:\s*\([^)]*\))?(?=\s*[:#\d]|\s*$)/iu],
  [
    'collected',
    /^(?:(?:date|time)\s*(?:\/|and|&)?\s*(?:time)?\s*(?:of\s+)?(?:sample|specimen|blood)?\s*(?:collect(?:ed|ion)|drawn)|(?:sample|specimen|blood)?\s*(?:collect(?:ed|ion)|drawn|coll\.?)(?:\s*(?:on|at|date|d\/t|dt|time|date\s*(?:\/|&|and)\s*time|date\s*time|\/\s*time))*|sample\s*(?:taken|date|drawn)(?:\s*on)?|specimen date|date\s*(?:of\s*)?(?:sampling|draw|taken|collected)|draw(?:n)?\s*(?:date|on)?|sampling date|taken(?:\s*on)?|date of service|service date|encounter date)/iu,
  ],
  [
    'received',
    /^(?:(?:sample|specimen|date|lab)?\s*(?:and time\s*)?(?:received|receipt|accessioned|registered|regd?\.?|registration|booked|printed|print|entered|authorised|approved|ordered|requested|order)\s*(?:on|at|in lab|date|d\/t|dt|time|date\s*\/?\s*time|by)*|order date|print(?:ed)? date|request date)/iu,
  ],
  [
    'reported',
    /^(?:(?:date|time)\s*(?:\/|and|&)?\s*(?:time)?\s*(?:of\s+)?(?:report(?:ed|ing)?|issue[d]?|result(?:ed)?|release[d]?)|(?:final\s*)?report(?:ed|ing|s)?\s*(?:on|at|date|d\/t|dt|time|date\s*\/?\s*time|released|released on|generated|generated on|issued|completed)*(?=\s*[:#]|\s*$|\s+\d|\s+\p{L}{3}\s+\d)|result(?:s|ed)?\s*(?:on|date|reported|released|time|ready|available)+|resulted|issued?(?:\s*(?:on|date))*|released?(?:\s*(?:on|date))*|completed(?:\s*(?:on|date))*|finali[sz]ed(?:\s*on)?|verified(?:\s*on)?|validated(?:\s*on)?)/iu,
  ],
  [
    'specimen',
    /^(?:specimen\s*(?:id|no\.?|number|#|num|identifier|ref(?:erence)?|barcode)|accession\s*(?:id|no\.?|number|#|num)?|acc\.?\s*(?:no\.?|#|number)|sample\s*(?:id|no\.?|number|#|ref(?:erence)?|code|barcode)|lab(?:oratory)?\s*(?:no\.?|number|id|ref(?:erence)?|#|sample\s*(?:no\.?|id))|barcode(?:\s*(?:no\.?|number|id))?|lab\s*ref(?:erence)?\.?\s*(?:no\.?|number)?|our\s*ref(?:erence)?\.?|case\s*(?:no\.?|number|#)|registration\s*(?:no\.?|number)|reg\.?\s*no\.?|vid|visit\s*(?:id|no\.?)|specimen(?=\s*:)|sample(?=\s*:)|bar code(?:\s*no\.?)?|vial id|sid(?:\s*no\.?)?|sin no\.?|requisition\s*(?:id|no\.?|number|#)?|req\.?\s*(?:no\.?|#)|order\s*(?:id|no\.?|number|#)|episode(?:\s*(?:no\.?|number))?|report\s*(?:id|no\.?|number|#)|request\s*(?:id|no\.?|number|#)|kit\s*(?:id|no\.?|number|code))/iu,
  ],
  [
    'lab',
    /^(?:lab(?:oratory)?(?:\s*name)?|performing lab(?:oratory)?|performed (?:at|by)|tested (?:at|by)|lab(?:oratory)? name|testing (?:lab(?:oratory)?|site)|processed (?:at|by))(?=\s*[:])/iu,
  ],
  [
    'other',
    /^(?:phone|tel\.?|telephone|mobile|fax|address|mrn|m\.r\.n|uhid|patient\s*(?:id|no\.?|number|#|ref|code|phone|address|type)|id|account|acct|clia|medical director|director|page|email|e-mail|web|website|ward|room|bed|location|npi|fasting|height|weight|status|report status|race|ethnicity|ssn|nric|passport|medicare|nhs(?:\s*(?:no\.?|number))?|hospital|ref(?:erred)?\.?\s*(?:by|dr|doctor|physician)|copy to|copies to|cc|type|sample type|specimen(?: type| source)?|source|comments?|notes?|visit|encounter|insurance|policy|payer|priority|department|section|branch|centre|center|collected at|collected by|signed|client)\b/iu,
  ],
]

export interface Labelled {
  field: Field
  label?: string
  value: string
}

/** Where no label stands at the beginning of a cell: sentences, and lines that hold everything. */
const DATE_TEXT = String.raw`((?:\d{1,4}[-/. ]|[A-Z][a-z]{2,8} )[\w ,/.-]{5,22})`
export const INSIDE: [Field, RegExp][] = [
  ['dob', new RegExp(String.raw`\b(?:DOB|[Dd]ate of birth|[Bb]orn)\b[:\s]+(?:on )?${DATE_TEXT}`, 'u')],
  ['collected', new RegExp(String.raw`\b(?:[Cc]ollected|[Dd]rawn|[Tt]aken)\b[:\s]+(?:on )?${DATE_TEXT}`, 'u')],
  ['reported', new RegExp(String.raw`\b(?:[Rr]eported|[Vv]alidated|[Rr]eleased|[Ii]ssued)\b[:\s]+(?:on )?${DATE_TEXT}`, 'u')],
  ['specimen', /\b(?:[Ss]ample|[Ss]pecimen|[Aa]ccession|[Bb]arcode|[Kk]it ID)\b[:#\s]{1,3}((?=[\w-]*\d)[A-Z0-9][\w/-]{4,20})\b/u],
  ['name', /^(?:RE|Re|Dear):?\s+(\p{Lu}[\p{L}'’-]+(?:\s\p{L}[\p{L}'’.-]+){1,3}),?$/u],
]

/** Of a cell that is searched for labels. */
const LETTERS_MAX = 400

/** Each label with what stands behind it in its cell, beside it, or below it. */
export function labelled(lines: readonly Line[]): Labelled[] {
  const found: Labelled[] = []
  for (const [index, line] of lines.entries())
    for (const [at, cell] of line.cells.entries()) {
      for (const part of labelledParts(cell.text.slice(0, LETTERS_MAX))) {
        if (part.value) {
          found.push(part)
          continue
        }
        const right = line.cells[at + 1]
        const beside = right && !labelOf(right.text) ? right.text.replace(/^[:\s]+/u, '') : ''
        const behind = beside || (right && /^:?$/u.test(right.text.trim()) ? (line.cells[at + 2]?.text ?? '') : '')
        // A label with others beside it and none of their values has its value below.
        const value = behind && !isBelow(cell, part.field, behind) ? behind : (below(lines, index, cell) ?? behind)
        if (value) found.push({ ...part, value })
      }
    }
  return found
}

/** What is beside a label of a date is no date: its value is below. */
const isBelow = (_cell: Cell, field: Field, beside: string): boolean =>
  ['dob', 'collected', 'reported'].includes(field) && !dateIn(beside)

/** A cell may hold several labels with their values: `DOB: 01/02/1980 Sex: F`. */
function labelledParts(text: string): Labelled[] {
  const parts: Labelled[] = []
  let rest = text.trim()
  for (let turn = 0; turn < 5 && rest; turn++) {
    const label = labelOf(rest)
    if (!label) {
      // The next label with a colon in this cell.
      const next = /(?<=\s)(?=(?:\p{L}[\p{L}/.#]*\s?){1,4}:)/u.exec(rest.slice(1))
      if (!next) return parts
      rest = rest.slice(next.index + 1).trim()
      continue
    }
    const after = rest.slice(label.length).replace(/^\s*(?:\([^)]*\))?\s*[:#.\-–]*\s*/u, '')
    const following = /\s+(?=(?:[\p{L}/.#]+\s?){1,4}:)/gu
    let end = after.length
    for (const match of after.matchAll(following)) {
      if (labelOf(after.slice(match.index).trim())) {
        end = match.index
        break
      }
    }
    parts.push({ field: label.field, label: rest.slice(0, label.length).trim(), value: after.slice(0, end).trim() })
    rest = after.slice(end).trim()
  }
  return parts
}

function labelOf(text: string): { field: Field; length: number } | undefined {
  const start = text.length - text.trimStart().length
  for (const [field, pattern] of LABELS) {
    const match = pattern.exec(text.trimStart())
    if (!match || match[0].length === 0) continue
    const rest = text.trimStart().slice(match[0].length)
    // `Reported results are…` is a sentence, `Patient Jane` may be a name.
    if (rest && !/^\s*(?:\([^)]*\)\s*)?[:#.–-]/u.test(rest) && !/^\s+\S/u.test(rest)) continue
    if (rest && !/^\s*(?:\([^)]*\)\s*)?[:#]/u.test(rest) && !followsWithoutColon(field, rest)) continue
    return { field, length: start + match[0].length }
  }
  return undefined
}

function followsWithoutColon(field: Field, rest: string): boolean {
  if (['dob', 'collected', 'reported', 'received'].includes(field)) return dateIn(rest.slice(0, 24)) !== undefined
  if (field === 'name')
    return (
      /^\s+\p{Lu}[\p{L}'’-]+,?(?:\s+\p{Lu}[\p{L}'’.-]*){1,3}\s*$/u.test(rest) &&
      !/\b(?:id|no|information|details|report|results?|data)\b/iu.test(rest)
    )
  if (field === 'sex') return /^\s+(?:male|female|m|f)\b/iu.test(rest)
  if (field === 'age') return /^\s+\d{1,3}\b/u.test(rest)
  if (field === 'specimen') return /^\s+[A-Z]*-?\d[\w-]{3,}/u.test(rest)
  return field === 'sex_age'
}

/** The nearest cell below that begins where the label does, within three lines. */
function below(lines: readonly Line[], index: number, label: Cell): string | undefined {
  for (const line of lines.slice(index + 1, index + 4)) {
    if (line.box.top - label.box.bottom > heightOf(label.box) * 2.2) return undefined
    const cell = line.cells.find(
      (other) =>
        overlapX(other.box, label.box) > 0 &&
        (Math.abs(other.box.left - label.box.left) < 8 || Math.abs(centerX(other.box) - centerX(label.box)) < 12),
    )
    if (cell) return labelOf(cell.text) ? undefined : cell.text
  }
  return undefined
}
