/**
 * The error for a connection that should see the rows of one team but would see those of the whole cell. It has its own file because the
 * command line explains it.
 */
export class NoRowSecurity extends Error {
  override name = 'NoRowSecurity'
}
