// The token in the form by which a person begins a connection on the link page. The form is shown by a page and sent by a press: programs
// that open links, such as scanners of mails, send no forms. It belongs to one session, source and kind of source, and to the browser that saw the page.
import type { Vault } from '../../platform/crypto/vault.ts'
import { hashKey } from '../../platform/crypto/api-keys.ts'
import { SignedTokens } from '../../platform/crypto/signed-tokens.ts'
import { LINK_SESSION_S } from './link-sessions.ts'

/** What a form begins. */
export interface ConsentForm {
  session_id: string
  provider: string
  isDemo: boolean
  /** The text in the cookie of the browser. */
  browser: string
}

const wordsOf = ({ session_id, provider, isDemo, browser }: ConsentForm): string[] => [
  session_id,
  provider,
  String(isDemo),
  hashKey(browser).toString('base64url'),
]

/** Issues and checks the tokens of forms. One per process. */
export class ConsentForms {
  readonly #tokens: SignedTokens

  constructor(vault: Vault) {
    this.#tokens = new SignedTokens(vault, 'link consent', 'lc_')
  }

  issue(form: ConsentForm): string {
    return this.#tokens.sign(wordsOf(form), LINK_SESSION_S)
  }

  /** Whether a text is the token of such a form, and has not expired. */
  verify(form: ConsentForm, text: string | null): boolean {
    const words = text === null ? undefined : this.#tokens.verify(text)?.words
    return words !== undefined && wordsOf(form).every((word, i) => word === words[i])
  }
}
