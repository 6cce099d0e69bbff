// Which field of a report a text names as its label (`Date of birth`, `Lab Ref No`), and which texts can be the name of a result.
import { isUnit, unitBehind } from '../../lab-values/units.ts'
import { flagOf } from '../../lab-values/values.ts'
import { dateIn } from './dates.ts'

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
  /** A date whose meaning the report does not state. */
  | 'date'
  | 'specimen'
  | 'lab'
  | 'other'

/** Labels of reports. The first that fits the beginning of a cell counts, so that the longer ones stand first. */
const LABELS: [Field, RegExp][] = [
  ['first_name', /^(?:patient(?:'s)?\s+)?(?:(?:first|given|other)\s*names?|forenames?)\b/iu],
  ['last_name', /^(?:patient(?:'s)?\s+)?(?:(?:last|family)\s*names?|surname)\b/iu],
  [
    'other',
    /^(?:name of (?:the )?(?:doctor|physician|referring)|(?:doctor|physician|provider|client|clinic|hospital|account|facility|test|referr\w*|ordering|requesting|consultant|clinician|collector|company|insurance|guardian|father|mother|husband|contact|middle)(?:'s)?\s*(?:\/\s*\w+\s*)?(?:name|by|provider|physician|doctor|dr)?)\b/iu,
  ],
  ['name', /^(?:(?:your |lab |laboratory |test )?(?:results|report|summary)) (?:for|of)(?=\s+\p{Lu})/iu],
  [
    'name',
    /^(?:patient(?:'s)?\s*(?:full\s*)?(?:names?)?(?:\s*\((?:last|first|surname).*?\))?|name of (?:the )?(?:patient|donor|client)|full names?|client name|names?|pt\.?\s*name|patient|donor)(?=\s*[:#]|\s*$|\s{1,}(?!id|no|number|info|data|detail|age|sex|dob|gender|phone|address|demographic|report|history|type|class|location|status|result))/iu,
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
    /^(?:(?:date|time)\s*(?:\/|and|&)?\s*(?:time)?\s*(?:of\s+)?(?:sample|specimen|blood)?\s*(?:collect(?:ed|ion)|drawn)|(?:sample|specimen|blood)?\s*(?:collect(?:ed|ion)|drawn|coll\.?)(?:\s*(?:on|at|date|d\/t|dt|time|date\s*(?:\/|&|and)\s*time|date\s*time|\/\s*time))*|sample\s*(?:taken|date|drawn)(?:\s*on)?|specimen date|date\s*(?:of\s*)?(?:sampling|draw|taken|collected)|draw(?:n)?\s*(?:date|on)?|(?:sampling|screening) date|taken(?:\s*on)?|date of service|service date|encounter date)/iu,
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
    /^(?:spec\.?\s*(?:no\.?|#|id)|specimen\s*(?:id|no\.?|number|#|num|identifier|ref(?:erence)?|barcode)|accession\s*(?:id|no\.?|number|#|num)?|acc\.?\s*(?:no\.?|#|number)|sample\s*(?:id|no\.?|number|#|ref(?:erence)?|code|barcode)|lab(?:oratory)?\s*(?:no\.?|number|id|ref(?:erence)?|#|sample\s*(?:no\.?|id))|barcode(?:\s*(?:no\.?|number|id))?|lab\s*ref(?:erence)?\.?\s*(?:no\.?|number)?|our\s*ref(?:erence)?\.?|case\s*(?:no\.?|number|#)|registration\s*(?:no\.?|number)|reg\.?\s*no\.?|vid|visit\s*(?:id|no\.?)|specimen(?=\s*:)|sample(?=\s*:)|bar code(?:\s*no\.?)?|vial id|sid(?:\s*no\.?)?|sin no\.?|requisition\s*(?:id|no\.?|number|#)?|req\.?\s*(?:no\.?|#)|order\s*(?:id|no\.?|number|#)|episode(?:\s*(?:no\.?|number))?|report\s*(?:id|no\.?|number|#)|request\s*(?:id|no\.?|number|#)|kit\s*(?:id|no\.?|number|code))/iu,
  ],
  [
    'lab',
    /^(?:lab(?:oratory)?(?:\s*name)?|performing lab(?:oratory)?|performed (?:at|by)|tested (?:at|by)|lab(?:oratory)? name|testing (?:lab(?:oratory)?|site)|processed (?:at|by)|reported by|report from|issued by|performing organi[sz]ation(?: name)?)(?=\s*[:])/iu,
  ],
  [
    'other',
    /^(?:phone|tel\.?|telephone|mobile|fax|address|mrn|m\.r\.n|uhid|patient\s*(?:id|no\.?|number|#|ref|code|phone|address|type)|id|account|acct|clia|medical director|director|page|email|e-mail|web|website|ward|room|bed|location|npi|fasting|height|weight|status|report status|race|ethnicity|ssn|nric|passport|medicare|nhs(?:\s*(?:no\.?|number))?|hospital|ref(?:erred)?\.?\s*(?:by|dr|doctor|physician)|copy to|copies to|cc|type|sample type|specimen(?: type| source)?|source|comments?|notes?|visit|encounter|insurance|policy|payer|priority|department|section|branch|centre|center|collected at|collected by|signed|client)\b/iu,
  ],
]

/** The label at the beginning of a text and how long it is; undefined if it begins with none. */
export function labelAt(original: string): { field: Field; length: number } | undefined {
  // `Patient.....: Jane`: dots lead to the value.
  const text = original.replace(/\.{2,}(?=\s*:)/u, (dots) => ' '.repeat(dots.length))
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
  const beforeColon = text.split(':', 1)[0]!
  const field = fieldOfWords(beforeColon.replace(/\([^)]*\)/gu, ' ')) ?? fieldOfLanguages(beforeColon)
  return field && { field, length: beforeColon.trimEnd().length }
}

/** `Nama / Name`, `Tarikh Diambil / Collected`: the field of a label that is printed in two languages. */
function fieldOfLanguages(label: string): Field | undefined {
  const parts = label.trim().split(' / ')
  if (parts.length !== 2) return undefined
  const fields = parts.flatMap((part) => {
    const own = labelAt(part)
    return own?.length === part.length ? [own.field] : []
  })
  return fields[0]
}

function followsWithoutColon(field: Field, rest: string): boolean {
  if (['dob', 'collected', 'reported', 'received', 'date'].includes(field)) return dateIn(rest.slice(0, 24)) !== undefined
  if (field === 'name')
    return (
      /^\s+\p{Lu}[\p{L}'’-]+,?(?:\s+\p{Lu}[\p{L}'’.-]*){1,3}\s*$/u.test(rest) &&
      !/\b(?:id|no|information|details|report|results?|data|comprehensive|metabolic|panel|profile|blood|test)\b/iu.test(rest)
    )
  if (field === 'sex') return /^\s+(?:male|female|m|f)\b/iu.test(rest)
  if (field === 'age') return /^\s+\d{1,3}\b/u.test(rest)
  if (field === 'specimen') return /^\s+[A-Z]*-?\d[\w-]{3,}/u.test(rest)
  return field === 'sex_age'
}

const words = (text: string) => new Set(text.split(/\s+/u))
const WHEN = words('date time dt datetime d/t datum fecha data day on at am')
const NUMBER = words('no nr num number numbers nummer id identifier identification ref reference code # barcode uid')
const BIRTH = words(
  'birth dob born birthdate birthday geburtsdatum geburtstag geb naissance nacimiento nascimento nascita geboortedatum',
)
const SEX = words('sex gender geschlecht geslacht sexe sexo sesso')
const AGE = words('age years yrs alter leeftijd âge edad idade età')
const COLLECTED = words(
  'examination assessment collected collection coll drawn draw taken sampled sampling venipuncture phlebotomy obtained entnahme abnahme entnahmedatum abnahmedatum afname afnamedatum prélèvement prélevé toma extracción coleta colheita prelievo',
)
const REPORTED = words(
  'reported report reporting released release issued issue resulted results result finalized finalised completed verified validated authorised authorized approved signed befunddatum befund ausgang ausgangsdatum rapportdatum rapport informe emissione emisión',
)
const RECEIVED = words(
  'received receipt accessioned registered registration booked printed print ordered requested request order created stored generated eingang eingangsdatum ontvangst ontvangen reçu recibido',
)
const SPECIMEN = words(
  'file specimen sample accession lab laboratory vial tube kit requisition order report request episode case visit our probe probennummer auftragsnummer auftrag monster monsternummer échantillon muestra campione labornummer labnr labcode',
)
const SERIES = words('spec sr s serial ref reference bill sl')
const PERSON = words(
  'patient patients donor client subject member participant person customer examinee individual paciente patientin paziente',
)
const NAME = words(
  'name names surname forename forenames full first last given family middle title nom prénom nombre apellido naam vorname nachname nome',
)
const FILLING = words('and of the de der la du in for final & / – - . # s your complete primary')
const OTHER = words(
  'hospital clinic account medical record records mrn uhid nhs nhi nric ic passport medicare health card insurance policy payer phone tel telephone mobile fax email address physician doctor provider clinician consultant practitioner requester requesting ordering referring referral referred by to copy ward room bed location department section unit priority status type source fasting height weight race ethnicity nationality information details data demographics',
)
const GROUPS = [WHEN, NUMBER, BIRTH, SEX, AGE, COLLECTED, REPORTED, RECEIVED, SPECIMEN, SERIES, PERSON, NAME, FILLING, OTHER]
const LABEL_WORDS_MAX = 7

/** The field that a label names whose words are all known, in whatever order they stand and in several languages side by side. */
function fieldOfWords(label: string): Field | undefined {
  const parts =
    label
      .toLowerCase()
      .replaceAll(/['’]s\b/gu, 's')
      .match(/[\p{L}\d#/&–-]+/gu) ?? []
  const tokens = parts.flatMap((part) => (part === 'd/t' ? [part] : part.split('/'))).filter(Boolean)
  if (!tokens.length || tokens.length > LABEL_WORDS_MAX) return undefined
  if (!tokens.every((token) => GROUPS.some((group) => group.has(token)))) return undefined
  const has = (group: Set<string>) => tokens.some((token) => group.has(token))
  if (has(BIRTH)) return 'dob'
  if (has(SEX)) return has(AGE) ? 'sex_age' : 'sex'
  if (has(AGE)) return has(OTHER) ? 'other' : 'age'
  const isTime = has(WHEN) && !has(NUMBER)
  if (has(RECEIVED) && isTime) return 'received'
  if (has(COLLECTED) && !has(NUMBER) && !has(OTHER)) return 'collected'
  if (has(REPORTED) && isTime) return 'reported'
  if (
    tokens.length > 1 &&
    tokens.every((token) => /^(?:verified|reported|released|final(?:i[sz]ed)?|validated|resulted)$/u.test(token))
  )
    return 'reported'
  if (isTime && tokens.some((token) => /^(?:specimen|sample|probe|muestra)$/u.test(token)) && !has(OTHER)) return 'collected'
  if (isTime && !has(OTHER) && !has(PERSON) && tokens.every((token) => /^(?:dated?|datum|fecha|data)$/u.test(token)))
    return 'date'
  if (has(PERSON) && !has(NUMBER) && (has(NAME) || /\b(?:information|details|demographics)$/iu.test(label.trim()))) return 'name'
  if (tokens.includes('your')) return has(NUMBER) ? 'other' : undefined
  if (has(OTHER) || has(PERSON)) return tokens.length > 1 || NUMBER.has(tokens[0]!) ? 'other' : undefined
  if ((has(SPECIMEN) || has(SERIES)) && has(NUMBER)) return 'specimen'
  if (has(PERSON) || has(NAME)) return has(NUMBER) ? 'other' : undefined
  return undefined
}

/** Whether a text is nothing but a label. */
export const isLabel = (text: string): boolean => {
  const plain = text.trim().replace(/\s*:$/u, '')
  return labelAt(plain)?.length === plain.length
}

/** Labels of what is not a result, though it may look like one. */
const NOT_A_NAME =
  /^(?!diabetes?\s?[/&]\s?\w+$|(?:diabet\w*|pre-?diabet\w*|(?:fe)?male|(?:wo)?men|adults?|children|pregnan\w*|newborn|toxic|therapeutic|fasting|health)(?:['’]?s)?\s(?:[\w&/-]+\s){0,3}(?:profile|panel|screen(?:ing)?|monitoring|assessment|markers?|hormones?|metals|serology|package|check|checkup)$)(?:page|names?|out of|age|sex(?! horm)|gender|dob|d\.o\.b|date|time|phone|tel|fax|mobile|address|account|a\/c|mrn|uhid|zip|po box|suite|npi|clia|cap|id|accession|specimen id|sample id|lab (?:no|id)|patient|physician|ordering|referr|collected|received|reported|printed|report(?:ed)? |registered|ref(?:erred)? by|copyright|version|iso|order|requisition|room|fasting|status|client|print|tests? ordered|height|weight|bmi:|email|www|http|note|comment|high$|low$|very low|desirable|optimal|borderline|very high|high risk|low risk|moderate risk|average risk|deficien\w*|insufficien\w*|sufficien\w*|pre-?diabet\w*|diabet\w*|non-?diabet\w*|normal|near optimal|above optimal|male|female|adults?|children|men|women|trimester|(?:first|second|third)$|(?:first|second|third|[123](?:st|nd|rd)) ?trimester|follicular|luteal|mid-?cycle|ovulat\w+|post-?menopaus\w*|pre-?menopaus\w*|pregnan\w*|newborn|toxic|therapeutic|stage \w+|g[1-5][ab]?|risk|(?:extreme|very high|high|moderate|intermediate|average|low)(?: risk)?(?: group \w)?$|results? (?:outside|within|released|reported|are)|(?:scan|verify) |interpretation|reference|method|methodology|end of|disclaimer|tel\.|gst\w*|cin|reg(?:n|d)?\.? no|your|you|health (?:no|card)|dr\.?|drs|mbbs|m\.?b\.?b\.?s|m\.?d\.?|m\.?phil|ph\.?d|fcps|frcpath|consultant|(?:medical(?:ly)? )?validat\w+|authori[sz]\w+|verified|approved|signed|lab(?:oratory)? director|(?:medical )?(?:lab(?:oratory)? )?(?:technician|technologist)|medical director|director|processed|performed|performing|site|level \d|requested|requestor|requester|copies|copy to|cc|(?:\w+ )?legend|rating|category|class|age group|goal|target|treatment|diagnosing|printed|run date|operator|serial)(?![\w])/iu

/** `Iron status`, `Liver function`: what several tests are about. */
export const namesPanel = (text: string): boolean => /\s(?:status|studies|profile|panel|function|markers?)$/iu.test(text)

/** `U R I N A LY S I S`: letters that are set apart. */
const SPACED_LETTERS = /^(?:\p{Lu}{1,3} ){4,}\p{Lu}{1,3}$/u

/** The name of a panel, without what surrounds it and without spaces between its letters. */
export const headingOf = (text: string): string =>
  (SPACED_LETTERS.test(text) && (text.match(/(?<!\p{L})\p{L}(?!\p{L})/gu)?.length ?? 0) > text.split(' ').length / 2
    ? text.replaceAll(' ', '')
    : text
  )
    .replace(/^[-–•*\s]+|[-–:*\s]+$/gu, '')
    .replace(/\s*\((?:continued|cont'?d\.?)\)$/iu, '')
    .trim()

/** Without marks of footnotes, dots that lead to the result, a colon, and the number or the LOINC code in front of it. */
export const cleanName = (name: string): string =>
  name
    .replace(/(?:\s{0,9}[._·•…]){2,}[\s:]*$|\s[.·•…][\s:]*$|[·•…][\s:]*$/u, '')
    .replace(/^[•*·▪►:\-–[\]{}#|\s]+/u, '')
    .replace(/^(?:\d{1,2}[.)]|\d{3,5}-\d)\s+(?=\p{L})/u, '')
    .replace(/[\s:*=†‡]+$/u, '')
    .replace(/\s+\[?\d{1,2}\]?$/u, (mark) => (/\[/u.test(mark) ? '' : mark))
    .replaceAll(/\s+/gu, ' ')
    .trim()

/** `Health No.: 0000 Age`: a label with its text. */
const hasLabel = (name: string): boolean => /:\s\S/u.test(name) && labelAt(name) !== undefined

/** `Low High`: of `(L) Low  (H) High  (A) Abnormal`, what flags mean. */
const isLegend = (name: string): boolean => {
  const words = name.split(' ')
  return words.length > 1 && words.every((word) => word.length > 2 && flagOf(word) !== undefined)
}

/** `isNamed`: whether a text is, word for word, the name of something that laboratories measure; `Fasting glucose` is not a label. */
export const isPossibleName = (name: string, isNamed: (name: string) => boolean): boolean =>
  !/^\p{L}+(?:[- ]\p{L}+){0,2} method$/u.test(name) &&
  // What the specimen looked like: `Sample slightly icteric`.
  !/^(?:sample|specimen) (?:is )?(?:slightly|mildly|moderately|grossly|markedly|haemoly|hemoly|icteric|lipa?emic)/iu.test(name) &&
  // Degrees below a name.
  !/^\([A-Z]{2,6}(?:, ?[A-Z]{2,6})+\)$/u.test(name) &&
  // Other scripts stand beside names: they are those of columns and fields in the other language of a report.
  (name.match(/[\p{Script=Latin}\p{Script=Greek}]/gu)?.length ?? 0) >=
    2 - Number(/^[A-Z]\s?\d{0,2}$/u.test(name) && isNamed(name)) &&
  name.length <= 90 &&
  !isLegend(name) &&
  !name.includes('©') &&
  // An address of a browser at the foot of a page, and the number of the page: `Ordered by Dr. Jane Example. Page 1 of`, `1`.
  !/\p{L}:\/\//u.test(name) &&
  !/\bpage(?: \d+ (?:of|\/))?$/iu.test(name) &&
  name.split(' ').length <= 12 &&
  // `121 - 150 mg/dl : Fair Control` says what results mean.
  !(/^[<>≤≥]?\s?\d[\d.,]*\s?[-–]\s?\d/u.test(name) && unitBehind(name) !== null) &&
  // `In nmol/L` belongs to the name of a column.
  !(/^in\s/iu.test(name) && isUnit(name.slice(3))) &&
  // `HbA1c in % 4.0-5.6` is a line of a table of categories.
  !/[<>≤≥=]=?\s*\d|[<>≤≥]$|:\s(?:\S+\s){2}|:(?:\S+\s){3}|\bin\s\S+\s\d+\.\d+\s?[-–]\s?\d+\.\d+$/u.test(name) &&
  (isNamed(name) || (!NOT_A_NAME.test(name) && !hasLabel(name) && !isLabel(name)))

export const looksLikeSentence = (text: string): boolean =>
  text.split(' ').length > 9 ||
  // `Virological suppression. Repeat in 12 months`
  /\p{Ll}{6}\.\s\p{Lu}/u.test(text) ||
  /(?:^|\s)(?:a|an|without|that|which|when|if|than|using|be|not|who|from|between|into)\s/u.test(
    text.replace(/\bnot (?:detected|seen|isolated|reactive|applicable|done|performed)\b/u, ''),
  ) ||
  /\b(?:is|are|was|were|should|may|has been|have been|please|this test|the|your)\b/iu.test(text)
