// The output of commands.

/** Prints, and waits until the reader has read the text: it may be larger than the memory. Rejects if it cannot be written. */
export const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))

/** As `write`, for the last text of a command: a reader that has closed the pipe, as `head` does, is no failure. A full disk is one. */
export const print = (text: string): Promise<void> =>
  write(text).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
