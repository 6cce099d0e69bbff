/** The server refuses shorter passwords, and those that are easy to guess. */
export const PASSWORD_LENGTH_MIN = 12
