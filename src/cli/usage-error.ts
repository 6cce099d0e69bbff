/** What was typed cannot be carried out, whatever the database and the files hold; the message says why. Commands end with 2. */
export class UsageError extends Error {}
