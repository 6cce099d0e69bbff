import { Text } from '@mantine/core'
import { ApiError } from '../api/api-error.ts'
import { PasskeyError } from './passkeys.ts'
import classes from './SignInPage.module.css'

/** Why a form of sign-in was refused, as the server says it. */
export const SignInError = ({ error }: { error: Error }) => (
  <Text role="alert" size="sm" className={classes.error}>
    {messageOf(error)}
  </Text>
)

function messageOf(error: Error): string {
  if (error instanceof PasskeyError) return error.message
  if (error instanceof ApiError) return [error.detail, ...error.fields.map(({ message }) => message)].join(': ')
  return 'Signing in failed'
}
