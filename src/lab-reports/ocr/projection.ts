// Projections of a plane: 3 × 3 matrices by rows, which map a point of one picture to a point of another.

export type Point = readonly [x: number, y: number]
export type Projection = readonly [number, number, number, number, number, number, number, number, number]
/** Corners in the order top left, top right, bottom right, bottom left. */
export type Corners = readonly [Point, Point, Point, Point]

export const IDENTITY: Projection = [1, 0, 0, 0, 1, 0, 0, 0, 1]

export function project([a, b, c, d, e, f, g, h, i]: Projection, [x, y]: Point): Point {
  const w = g * x + h * y + i
  return [(a * x + b * y + c) / w, (d * x + e * y + f) / w]
}

/** What `first` maps, mapped by `second`. */
export function compose(first: Projection, second: Projection): Projection {
  const cell = (row: number, column: number) =>
    second[row * 3]! * first[column]! + second[row * 3 + 1]! * first[column + 3]! + second[row * 3 + 2]! * first[column + 6]!
  return [cell(0, 0), cell(0, 1), cell(0, 2), cell(1, 0), cell(1, 1), cell(1, 2), cell(2, 0), cell(2, 1), cell(2, 2)]
}

/** The inverse, up to a factor, which a projection does not depend on. */
export const inverse = ([a, b, c, d, e, f, g, h, i]: Projection): Projection => [
  e * i - f * h,
  c * h - b * i,
  b * f - c * e,
  f * g - d * i,
  a * i - c * g,
  c * d - a * f,
  d * h - e * g,
  b * g - a * h,
  a * e - b * d,
]

export const scaling = (x: number, y = x): Projection => [x, 0, 0, 0, y, 0, 0, 0, 1]

/** Turns clockwise, as it is seen, by quarters of a full turn; a picture of this size stays at the origin. */
export function quarterTurn(quarters: 0 | 1 | 2 | 3, width: number, height: number): Projection {
  if (quarters === 1) return [0, -1, height, 1, 0, 0, 0, 0, 1]
  if (quarters === 2) return [-1, 0, width, 0, -1, height, 0, 0, 1]
  return quarters === 3 ? [0, 1, 0, -1, 0, width, 0, 0, 1] : IDENTITY
}

/** Turns by an angle in radians around a point; positive angles turn the x axis towards the y axis. */
export function rotation(angle: number, [x, y]: Point): Projection {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  return [cos, -sin, x - cos * x + sin * y, sin, cos, y - sin * x - cos * y, 0, 0, 1]
}

/** Maps the corners of a picture of this size to these corners (Heckbert 1989). */
export function toCorners([p0, p1, p2, p3]: Corners, width: number, height: number): Projection {
  const [dx1, dx2, sx] = [p1[0] - p2[0], p3[0] - p2[0], p0[0] - p1[0] + p2[0] - p3[0]]
  const [dy1, dy2, sy] = [p1[1] - p2[1], p3[1] - p2[1], p0[1] - p1[1] + p2[1] - p3[1]]
  const determinant = dx1 * dy2 - dx2 * dy1
  const g = (sx * dy2 - dx2 * sy) / determinant
  const h = (dx1 * sy - sx * dy1) / determinant
  const unit: Projection = [
    p1[0] - p0[0] + g * p1[0],
    p3[0] - p0[0] + h * p3[0],
    p0[0],
    p1[1] - p0[1] + g * p1[1],
    p3[1] - p0[1] + h * p3[1],
    p0[1],
    g,
    h,
    1,
  ]
  return compose(scaling(1 / width, 1 / height), unit)
}
