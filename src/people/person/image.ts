// Pictures that come within the body of a request. Source: openapi-0.4.687.json, Jpeg, Png.
import { Fields, OpenEnum, Text } from '../../platform/schema/schema.ts'

/** Of an operation whose body may have pictures: a few scans of cards and signatures. */
export const BODY_WITH_IMAGES_BYTES_MAX = 2_000_000

/** A picture, as text. Nothing looks into it: it is kept as it was given. */
export const Image = Fields(
  { content: Text({ minLength: 1, description: 'In base64.' }), content_type: OpenEnum(['image/jpeg', 'image/png']) },
  { title: 'Image' },
)
