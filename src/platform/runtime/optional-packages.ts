// Packages that an installation need not have. What uses one says which to install.

/** A package is not installed. The log shows its code, which says what to do. */
export class MissingPackageError extends Error {
  readonly code: string

  constructor(name: string, cause?: unknown) {
    super(`The package ${name} is not installed`, { cause })
    this.code = `not installed: npm install ${name}`
  }
}

/**
 * Loads a package.
 * @throws MissingPackageError if it is not installed
 */
export async function loadPackage<M>(name: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (error) {
    const { code, message = '' } = error as { code?: string; message?: string }
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)) throw new MissingPackageError(name, error)
    throw error
  }
}

/** Whether a package is installed. Loads nothing. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
