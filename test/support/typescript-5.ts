// TypeScript 5 as the default export, for packages that expect it: the project's compiler is TypeScript 7, which has no programming interface.
import { ts } from '@ts-morph/common'

export default ts
