// Images in the body of a request. Source: openapi-0.4.687.json, Jpeg, Png.
import { Fields, OpenEnum, Text } from '../../platform/schema/schema.ts'

/** Body limit of operations with images: a few scans of cards and signatures. */
export const BODY_WITH_IMAGES_BYTES_MAX = 2_000_000

/** An image, as text. It is stored unchanged and not inspected. */
export const Image = Fields(
  { content: Text({ minLength: 1, description: 'In base64.' }), content_type: OpenEnum(['image/jpeg', 'image/png']) },
  { title: 'Image' },
)
