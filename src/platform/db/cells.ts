// The cells that this process serves, each with its own connections, and the control plane.
import { Db, type DbOptions } from './database.ts'

export type CellOptions = Omit<DbOptions, 'schema'>

/** The PostgreSQL schema of a cell. */
export const schemaOf = (cell: string): string => cell.replace('-', '_')

export class Cells {
  readonly control: Db
  readonly #cells = new Map<string, Db>()

  constructor(control: CellOptions, cells: Map<string, CellOptions>) {
    this.control = new Db({ ...control, schema: 'control' })
    for (const [name, options] of cells) this.#cells.set(name, new Db({ ...options, schema: schemaOf(name) }))
  }

  get names(): string[] {
    return [...this.#cells.keys()]
  }

  has(name: string): boolean {
    return this.#cells.has(name)
  }

  /** The connections of a cell that this process serves. */
  db(name: string): Db {
    const db = this.#cells.get(name)
    if (!db) throw new Error(`cell ${name} is not served by this process`)
    return db
  }

  /** The cell of connections that `db` has returned. */
  nameOf(db: Db): string {
    const name = this.names.find((cell) => this.#cells.get(cell) === db)
    if (!name) throw new Error(`no cell of this process has the schema ${db.schema}`)
    return name
  }

  async close(): Promise<void> {
    await Promise.all([this.control, ...this.#cells.values()].map((db) => db.close()))
  }
}
