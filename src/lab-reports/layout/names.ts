// What can be the name of a result, and what cannot.
import { isLabel, labelAt } from './label-names.ts'
import { isUnit } from '../../lab-values/units.ts'

/** Labels of what is no result, though it may look like one. */
const NOT_A_NAME =
  /^(?!diabetes?\s?[/&]\s?\w+$|(?:diabet\w*|pre-?diabet\w*|(?:fe)?male|(?:wo)?men|adults?|children|pregnan\w*|newborn|toxic|therapeutic|fasting|health)(?:['’]?s)?\s(?:[\w&/-]+\s){0,3}(?:profile|panel|screen(?:ing)?|monitoring|assessment|markers?|hormones?|metals|serology|package|check|checkup)$)(?:page|names?|out of|age|sex(?! horm)|gender|dob|d\.o\.b|date|time|phone|tel|fax|mobile|address|account|a\/c|mrn|uhid|zip|po box|suite|npi|clia|cap|id|accession|specimen id|sample id|lab (?:no|id)|patient|physician|ordering|referr|collected|received|reported|printed|report(?:ed)? |registered|ref(?:erred)? by|copyright|version|iso|order|requisition|room|fasting|status|client|print|tests? ordered|height|weight|bmi:|email|www|http|note|comment|high$|low$|very low|desirable|optimal|borderline|very high|high risk|low risk|moderate risk|average risk|deficien\w*|insufficien\w*|sufficien\w*|pre-?diabet\w*|diabet\w*|non-?diabet\w*|normal|near optimal|above optimal|male|female|adults?|children|men|women|trimester|first trimester|second trimester|third trimester|follicular|luteal|mid-?cycle|ovulat\w+|post-?menopaus\w*|pre-?menopaus\w*|pregnan\w*|newborn|toxic|therapeutic|stage \w+|g[1-5][ab]?|risk|(?:extreme|very high|high|moderate|intermediate|average|low)(?: risk)?(?: group \w)?$|results? (?:outside|within|released|reported|are)|(?:scan|verify) |interpretation|reference|method|methodology|end of|disclaimer|tel\.|gst\w*|cin|reg(?:n|d)?\.? no|your|you|health (?:no|card)|dr\.?|drs|mbbs|m\.?b\.?b\.?s|m\.?d\.?|m\.?phil|ph\.?d|fcps|frcpath|consultant|(?:medical(?:ly)? )?validat\w+|authori[sz]\w+|verified|approved|signed|lab(?:oratory)? director|(?:medical )?(?:lab(?:oratory)? )?(?:technician|technologist)|medical director|director|processed|performed|performing|site|level \d|requested|requestor|requester|copies|copy to|cc|legend|rating|category|class|age group|goal|target|treatment|diagnosing|printed|run date|operator|serial)(?![\w])/iu

/** The name of a panel, without what surrounds it. */
export const headingOf = (text: string): string =>
  text
    .replace(/^[-–•*\s]+|[-–:*\s]+$/gu, '')
    .replace(/\s*\((?:continued|cont'?d\.?)\)$/iu, '')
    .trim()

/** Without marks of footnotes, dots that lead to the result, and a colon. */
export const cleanName = (name: string): string =>
  name
    .replace(/(?:\s{0,9}[._·•…]){2,}[\s:]*$|\s[.·•…][\s:]*$|[·•…][\s:]*$/u, '')
    .replace(/^[•*·▪►:\-–[\]{}#|\s]+/u, '')
    .replace(/[\s:*=†‡]+$/u, '')
    .replace(/\s+\[?\d{1,2}\]?$/u, (mark) => (/\[/u.test(mark) ? '' : mark))
    .replaceAll(/\s+/gu, ' ')
    .trim()

/** `Health No.: 0000 Age`: a label with its text. */
const hasLabel = (name: string): boolean => /:\s\S/u.test(name) && labelAt(name) !== undefined

/** `isNamed`: whether a text is, word for word, the name of something that laboratories measure; `Fasting glucose` is no label. */
export const isPossibleName = (name: string, isNamed: (name: string) => boolean): boolean =>
  !/^\p{L}+(?:[- ]\p{L}+){0,2} method$/u.test(name) &&
  // Degrees below a name.
  !/^\([A-Z]{2,6}(?:, ?[A-Z]{2,6})+\)$/u.test(name) &&
  (name.match(/\p{L}/gu)?.length ?? 0) >= 2 - Number(/^[A-Z]$/u.test(name) && isNamed(name)) &&
  name.length <= 90 &&
  !name.includes('©') &&
  name.split(' ').length <= 12 &&
  // `In nmol/L` belongs to the name of a column.
  !(/^in\s/iu.test(name) && isUnit(name.slice(3))) &&
  // `HbA1c in % 4.0-5.6` is a line of a table of categories.
  !/[<>≤≥=]=?\s*\d|[<>≤≥]$|:\s(?:\S+\s){2}|\bin\s\S+\s\d+\.\d+\s?[-–]\s?\d+\.\d+$/u.test(name) &&
  (isNamed(name) || (!NOT_A_NAME.test(name) && !hasLabel(name) && !isLabel(name)))

export const looksLikeSentence = (text: string): boolean =>
  text.split(' ').length > 9 ||
  /(?:^|\s)(?:a|an|without|that|which|when|if|than|using|be|not|who|from|between|into)\s/u.test(
    text.replace(/\bnot (?:detected|seen|isolated|reactive|applicable|done|performed)\b/u, ''),
  ) ||
  /\b(?:is|are|was|were|should|may|has been|have been|please|this test|the|your)\b/iu.test(text)
