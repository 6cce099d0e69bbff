// What the settings and the command line know of row-level security, without loading the driver of the database.

export const rowSecurityModes = ['on', 'required', 'off'] as const
/** `on`: if the login may take the roles. `required`: the program does not serve without them. `off`: connections keep their login. */
export type RowSecurityMode = (typeof rowSecurityModes)[number]

/**
 * The error for a connection that should see the rows of one team but would see those of the whole cell.
 */
export class NoRowSecurity extends Error {
  override name = 'NoRowSecurity'
}
