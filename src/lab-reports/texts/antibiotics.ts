// Antibiotics, the organisms they are tested against, and how reports say whether they act. Source of the categories: EUCAST, CLSI.

const NAMES = new Set(
  `amikacin amoxicillin amoxycillin ampicillin augmentin azithromycin azlocillin aztreonam bactrim bacitracin benzylpenicillin cefaclor cefadroxil
  cefalexin cefalotin cefamandole cefazolin cefdinir cefditoren cefepime cefixime cefiderocol cefoperazone cefotaxime cefotetan cefoxitin
  cefpodoxime cefprozil ceftaroline ceftazidime ceftriaxone cefuroxime cephalexin cephalothin cephazolin chloramphenicol ciprofloxacin
  clarithromycin clindamycin cloxacillin co-amoxiclav co-trimoxazole colistin cotrimoxazole dalbavancin daptomycin doripenem doxycycline
  ertapenem erythromycin flucloxacillin fosfomycin fusidic framycetin fusidate gatifloxacin gentamicin gentamycin imipenem kanamycin levofloxacin
  lincomycin linezolid lomefloxacin mecillinam meropenem methicillin metronidazole mezlocillin minocycline moxifloxacin mupirocin nalidixic
  neomycin netilmicin nitrofurantoin norfloxacin novobiocin ofloxacin omadacycline oritavancin oxacillin oxytetracycline pefloxacin penicillin
  piperacillin pivmecillinam plazomicin polymyxin pristinamycin quinupristin rifampicin rifampin roxithromycin sparfloxacin spectinomycin
  spiramycin streptomycin sulbactam sulfamethoxazole sulphamethoxazole sulfonamide tazobactam tazocin tedizolid teicoplanin telavancin
  temocillin tetracycline ticarcillin tigecycline timentin tobramycin trimethoprim vancomycin vibramycin
  amphotericin anidulafungin caspofungin fluconazole flucytosine itraconazole ketoconazole micafungin posaconazole voriconazole`.split(
    /\s+/u,
  ),
)
/** What is next to one in a name: `Fusidic acid`, `Amoxicillin/Clavulanic acid`, `Gentamicin High Level (synergy)`. */
const BESIDE = new Set(
  `acid g v b e k clav clavulanic clavulanate clavulanat potassium sodium sulbactam tazobactam avibactam relebactam vaborbactam cilastatin dalfopristin axetil
  sulfa sulfamethoxazole sulphamethoxazole sulpha high low level synergy screen iv oral parenteral meningitis nonmeningitis non-meningitis urine uti
  proxetil hydrochloride disodium trometamol and with or other infections uncomplicated systemic`.split(/\s+/u),
)

/** Whether a text is the name of an antibiotic, alone or with another: `Piperacillin-Tazobactam`, `Cefazolin (urine)`. */
export function isAntibiotic(text: string): boolean {
  const plain = text.toLowerCase().replace(/[.:*]+$/u, '')
  const parts = plain.split(/[\s/+&,()–-]+/u).filter(Boolean)
  const isListed = (word: string) => NAMES.has(word)
  if (isListed(plain) || /^co-(?:amoxiclav|trimoxazole)$/u.test(plain)) return true
  return (
    parts.length > 0 && parts.length <= 7 && parts.some(isListed) && parts.every((part) => isListed(part) || BESIDE.has(part))
  )
}

export type Category = 'susceptible' | 'intermediate' | 'resistant'

const CATEGORIES: [Category, RegExp][] = [
  ['susceptible', /^(?:s|sens|sensitive|susc|susceptible|highly sensitive)$/iu],
  ['resistant', /^(?:r|res|resist|resistant|ns|non-?susceptible|not susceptible)$/iu],
  [
    'intermediate',
    /^(?:i|int|inter|intermediate|sdd|susceptible[ -]dose[ -]dependent|susceptible,? increased exposure|moderately? (?:sensitive|susceptible)|ms)$/iu,
  ],
]

/** `S`, `Resistant`, `SDD`; undefined for other texts. */
export const categoryOf = (text: string): Category | undefined =>
  CATEGORIES.find(([, pattern]) => pattern.test(text.trim().replace(/^[([](.+)[)\]]$/u, '$1')))?.[0]

/** `<=0.5`, `16/8`, `>= 32`: a minimal inhibitory concentration, which may be that of two substances. */
export const isConcentration = (text: string): boolean =>
  /^(?:[<>≤≥]=?|=)?\s?\d+(?:[.,]\d+)?(?:\s?\/\s?\d+(?:[.,]\d+)?)?$/u.test(text.trim())

const GENERA =
  'Escherichia|Klebsiella|Proteus|Pseudomonas|Staphylococcus|Streptococcus|Enterococcus|Acinetobacter|Enterobacter|Citrobacter|Serratia|Salmonella|Shigella|Candida|Haemophilus|Neisseria|Morganella|Providencia|Campylobacter|Stenotrophomonas|Burkholderia|Listeria|Bacteroides|Clostridium|Clostridioides|Aeromonas|Raoultella|Moraxella|Coagulase negative'
const ORGANISM = new RegExp(
  `\\b(?:(?:${GENERA})(?: (?:species|spp?\\.?|[a-z]{4,}))?|(?:E|K|S|P|A|C|M|H|N|B)\\. ?(?:coli|pneumoniae|aureus|mirabilis|aeruginosa|baumannii|albicans|faecalis|faecium|cloacae|freundii|vulgaris|agalactiae|pyogenes|epidermidis|saprophyticus|influenzae|cepacia)|MRSA)(?![\\p{L}])`,
  'u',
)

/** The organism that a text names; undefined if it names none. */
export const organismIn = (text: string): string | undefined => ORGANISM.exec(text)?.[0]

/** Whether a result says how an antibiotic acts, and not how much of it is in the blood. */
export const isSusceptibility = (name: string, value: string, comments: readonly string[] = []): boolean =>
  isAntibiotic(name) && [value, ...comments].some((text) => categoryOf(text) !== undefined)

/** In the words of the API. What acts in higher doses is neither. */
export function readSensitivity(
  name: string,
  value: string,
  comments: readonly string[],
): 'sensitive' | 'insensitive' | 'unknown' {
  const category = isSusceptibility(name, value, comments)
    ? [value, ...comments].map(categoryOf).find((item) => item !== undefined)
    : undefined
  return category === 'susceptible' ? 'sensitive' : category === 'resistant' ? 'insensitive' : 'unknown'
}
