// What commands print.

/** Prints, and waits until the reader has taken it: it may be larger than the memory. Rejects when it cannot be written. */
export const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))

/** As `write`, for the last that a command says: that the reader has closed the pipe, as `head` does, is no failure. A full disk is one. */
export const print = (text: string): Promise<void> =>
  write(text).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
