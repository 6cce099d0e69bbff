/** A connection that was to see the rows of one team would see those of the whole cell. In a file of its own: the command line explains it. */
export class NoRowSecurity extends Error {
  override name = 'NoRowSecurity'
}
