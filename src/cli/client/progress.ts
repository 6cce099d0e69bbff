// How far a command is: on a terminal a bar that is drawn again in its line, elsewhere a line for each state that differs.
const WIDTH = 30

export class Progress {
  readonly #out: (text: string) => void
  readonly #isTerminal: boolean
  #shown = ''

  constructor({ out, isTerminal }: { out: (text: string) => void; isTerminal?: boolean }) {
    this.#out = out
    this.#isTerminal = isTerminal ?? false
  }

  /** @param share of the work that is done, from 0 to 1 */
  show(label: string, share: number, detail = ''): void {
    const percent = `${Math.floor(share * 100)} %`
    const end = detail && `, ${detail}`
    const full = Math.floor(share * WIDTH)
    const text = this.#isTerminal
      ? `\r\u001b[K${label.padEnd(10)} [${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${percent}${end}`
      : `${label} ${percent}${end}\n`
    if (text !== this.#shown) this.#out((this.#shown = text))
  }

  /** What is printed next begins a line. */
  end(): void {
    if (this.#isTerminal && this.#shown) this.#out('\n')
    this.#shown = ''
  }
}
