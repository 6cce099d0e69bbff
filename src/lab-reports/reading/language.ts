// Whether a report is written in English, the only language that is read.
import type { PageText } from '../pages/page.ts'
import { wordsIn } from '../pages/text-quality.ts'
import { isReportWord } from './spelling.ts'

const ENGLISH = new Set(
  'the of and for in with to by on is are test tests result results range reference name date report patient age sex male female lab laboratory normal high low units value specimen sample collected received negative positive blood serum urine total count method page phone physician doctor'.split(
    ' ',
  ),
)
/** Words of reports in German, French, Spanish, Portuguese, Italian and Dutch that English does not have. */
const OTHERS = new Set(
  'der die das und ist ergebnis einheit referenzbereich befund patientin geburtsdatum männlich weiblich blutbild material datum von für mit le les des et du résultat résultats unité valeurs référence médecin naissance prélèvement homme femme analyse el los las del resultado resultados unidad unidades valores referencia paciente médico fecha nacimiento muestra hombre mujer edad o os dos resultado unidade data paciente médico nascimento amostra masculino feminino il della risultato risultati unità riferimento paziente medico nascita campione de het een van uitslag eenheid referentiewaarden patiënt arts geboortedatum geslacht'.split(
    ' ',
  ),
)
/**
 * Names of columns, persons and what is measured that reports in German, Dutch, French, Spanish, Portuguese and Italian have, and English ones
 * do not: a few of them tell the language of a short report, whose other words are symbols, units and numbers.
 */
const TELLING = new Set(
  'ergebnis einheit referenzbereich normbereich normwert normwerte messwert parameterbezeichnung untersuchung laborbefund befund befunddatum patientin geburtsdatum geb geschlecht männlich weiblich abnahme probeneingang kalium natrium kreatinin harnstoff harnsäure leukozyten erythrozyten thrombozyten hämoglobin hämatokrit glukose blutzucker nüchtern eisen gesamteiweiß triglyceride cholesterin gesamtcholesterin blutbild einsender arzt uitslag eenheid referentiewaarden onderzoek kreatinine hemoglobine leukocyten trombocyten ureum patiënt geslacht résultat résultats unité unités valeurs référence prélèvement naissance sexe médecin créatinine glycémie hémoglobine hématocrite leucocytes plaquettes urée cholestérol analyse resultado resultados unidad unidades valores referencia paciente médico fecha nacimiento sexo sodio potasio creatinina glucosa glicemia hemoglobina hematocrito leucocitos plaquetas colesterol triglicéridos unidade sódio potássio glicose ureia ferro risultato risultati unità riferimento paziente esame sesso nascita potassio emoglobina ematocrito globuli piastrine colesterolo trigliceridi'.split(
    ' ',
  ),
)
/** Different ones of them, where they are more than the English words. */
const TELLING_MIN = 4

/** Words of English letters and notices. */
const PROSE = new Set(
  'about above after also another because been before below between both care contact could dear during each enclosed every following found further have health here however important including information into known less made make many medical more most much must need needs notice only other over people person please provide provided questions received regarding request review right same should show since some such than that their them then there these they this those through time under until upon used using very was well were what when where which while will within without would year years your yours sincerely'.split(
    ' ',
  ),
)

/** Whether a word, in lower case, is usual in reports of one of these languages. */
export const isUsualWord = (word: string): boolean => ENGLISH.has(word) || OTHERS.has(word) || PROSE.has(word)

/** Fewer words say nothing about the language. */
const WORDS_MIN = 30
/** Share of English words among those of four letters and more that were not read from pictures; English reports have 0.38 and more, others 0.11 and less. */
const ENGLISH_SHARE_MIN = 0.2
const LONG_WORDS_MIN = 40

export function isEnglish(pages: readonly PageText[]): boolean {
  const words = pages.flatMap((page) =>
    page.words.flatMap(
      ({ text }) =>
        text
          .normalize('NFC')
          .toLowerCase()
          .match(/\p{L}{2,}/gu) ?? [],
    ),
  )
  const latin = words.filter((word) => /^\p{Script=Latin}+$/u.test(word))
  const telling = new Set(latin.filter((word) => TELLING.has(word))).size
  if (telling >= TELLING_MIN && telling > new Set(latin.filter((word) => ENGLISH.has(word))).size) return false
  if (words.length < WORDS_MIN) return true
  if (latin.length < words.length / 2) return false
  const english = latin.filter((word) => ENGLISH.has(word)).length
  const others = latin.filter((word) => OTHERS.has(word)).length
  if (others >= 6 && english * 1.2 < others) return false
  const long = pages.filter(({ source }) => source === 'text').flatMap((page) => page.words.flatMap(({ text }) => wordsIn(text)))
  const known = long.filter((word) => ENGLISH.has(word) || PROSE.has(word) || isReportWord(word)).length
  return long.length < LONG_WORDS_MIN || known / long.length >= ENGLISH_SHARE_MIN
}
