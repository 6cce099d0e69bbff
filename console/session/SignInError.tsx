import { Text } from '@mantine/core'
import { ApiError } from '../api/api-error.ts'
import classes from './SignInPage.module.css'

/** Why a form of sign-in was refused, as the server says it. */
export const SignInError = ({ error }: { error: Error }) => (
  <Text role="alert" size="sm" className={classes.error}>
    {error instanceof ApiError ? [error.detail, ...error.fields.map(({ message }) => message)].join(': ') : 'Signing in failed'}
  </Text>
)
