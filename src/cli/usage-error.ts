/** The command line is invalid, regardless of the database and the files; the message gives the reason. The exit code is 2. */
export class UsageError extends Error {}
