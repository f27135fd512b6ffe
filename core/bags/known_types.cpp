// Definitions of common types of ROS 2, for bags that hold none. They are public, and did not change.
#include "core/bags/message_type.h"

#include <algorithm>

namespace td::bags {

namespace {

// Fields end with a ';' here.
constexpr std::string_view definitions = R"(===
MSG: builtin_interfaces/Time
int32 sec;uint32 nanosec;
===
MSG: builtin_interfaces/Duration
int32 sec;uint32 nanosec;
===
MSG: std_msgs/Header
builtin_interfaces/Time stamp;string frame_id;
===
MSG: std_msgs/ColorRGBA
float32 r;float32 g;float32 b;float32 a;
===
MSG: std_msgs/Empty
===
MSG: std_msgs/MultiArrayDimension
string label;uint32 size;uint32 stride;
===
MSG: std_msgs/MultiArrayLayout
MultiArrayDimension[] dim;uint32 data_offset;
===
MSG: std_msgs/Bool
bool data;
===
MSG: std_msgs/Byte
byte data;
===
MSG: std_msgs/ByteMultiArray
MultiArrayLayout layout;byte[] data;
===
MSG: std_msgs/Char
char data;
===
MSG: std_msgs/Float32
float32 data;
===
MSG: std_msgs/Float32MultiArray
MultiArrayLayout layout;float32[] data;
===
MSG: std_msgs/Float64
float64 data;
===
MSG: std_msgs/Float64MultiArray
MultiArrayLayout layout;float64[] data;
===
MSG: std_msgs/Int8
int8 data;
===
MSG: std_msgs/Int8MultiArray
MultiArrayLayout layout;int8[] data;
===
MSG: std_msgs/Int16
int16 data;
===
MSG: std_msgs/Int16MultiArray
MultiArrayLayout layout;int16[] data;
===
MSG: std_msgs/Int32
int32 data;
===
MSG: std_msgs/Int32MultiArray
MultiArrayLayout layout;int32[] data;
===
MSG: std_msgs/Int64
int64 data;
===
MSG: std_msgs/Int64MultiArray
MultiArrayLayout layout;int64[] data;
===
MSG: std_msgs/UInt8
uint8 data;
===
MSG: std_msgs/UInt8MultiArray
MultiArrayLayout layout;uint8[] data;
===
MSG: std_msgs/UInt16
uint16 data;
===
MSG: std_msgs/UInt16MultiArray
MultiArrayLayout layout;uint16[] data;
===
MSG: std_msgs/UInt32
uint32 data;
===
MSG: std_msgs/UInt32MultiArray
MultiArrayLayout layout;uint32[] data;
===
MSG: std_msgs/UInt64
uint64 data;
===
MSG: std_msgs/UInt64MultiArray
MultiArrayLayout layout;uint64[] data;
===
MSG: std_msgs/String
string data;
===
MSG: geometry_msgs/Vector3
float64 x;float64 y;float64 z;
===
MSG: geometry_msgs/Point
float64 x;float64 y;float64 z;
===
MSG: geometry_msgs/Point32
float32 x;float32 y;float32 z;
===
MSG: geometry_msgs/Quaternion
float64 x;float64 y;float64 z;float64 w;
===
MSG: geometry_msgs/Pose
Point position;Quaternion orientation;
===
MSG: geometry_msgs/Pose2D
float64 x;float64 y;float64 theta;
===
MSG: geometry_msgs/PoseArray
Header header;Pose[] poses;
===
MSG: geometry_msgs/Transform
Vector3 translation;Quaternion rotation;
===
MSG: geometry_msgs/TransformStamped
Header header;string child_frame_id;Transform transform;
===
MSG: geometry_msgs/Twist
Vector3 linear;Vector3 angular;
===
MSG: geometry_msgs/Accel
Vector3 linear;Vector3 angular;
===
MSG: geometry_msgs/Wrench
Vector3 force;Vector3 torque;
===
MSG: geometry_msgs/Inertia
float64 m;Vector3 com;float64 ixx;float64 ixy;float64 ixz;float64 iyy;float64 iyz;float64 izz;
===
MSG: geometry_msgs/Polygon
Point32[] points;
===
MSG: geometry_msgs/Vector3Stamped
Header header;Vector3 vector;
===
MSG: geometry_msgs/PointStamped
Header header;Point point;
===
MSG: geometry_msgs/QuaternionStamped
Header header;Quaternion quaternion;
===
MSG: geometry_msgs/PoseStamped
Header header;Pose pose;
===
MSG: geometry_msgs/TwistStamped
Header header;Twist twist;
===
MSG: geometry_msgs/AccelStamped
Header header;Accel accel;
===
MSG: geometry_msgs/WrenchStamped
Header header;Wrench wrench;
===
MSG: geometry_msgs/InertiaStamped
Header header;Inertia inertia;
===
MSG: geometry_msgs/PolygonStamped
Header header;Polygon polygon;
===
MSG: geometry_msgs/PoseWithCovariance
Pose pose;float64[36] covariance;
===
MSG: geometry_msgs/PoseWithCovarianceStamped
Header header;PoseWithCovariance pose;
===
MSG: geometry_msgs/TwistWithCovariance
Twist twist;float64[36] covariance;
===
MSG: geometry_msgs/TwistWithCovarianceStamped
Header header;TwistWithCovariance twist;
===
MSG: geometry_msgs/AccelWithCovariance
Accel accel;float64[36] covariance;
===
MSG: geometry_msgs/AccelWithCovarianceStamped
Header header;AccelWithCovariance accel;
===
MSG: sensor_msgs/Image
Header header;uint32 height;uint32 width;string encoding;uint8 is_bigendian;uint32 step;uint8[] data;
===
MSG: sensor_msgs/CompressedImage
Header header;string format;uint8[] data;
===
MSG: sensor_msgs/RegionOfInterest
uint32 x_offset;uint32 y_offset;uint32 height;uint32 width;bool do_rectify;
===
MSG: sensor_msgs/CameraInfo
Header header;uint32 height;uint32 width;string distortion_model;float64[] d;float64[9] k;float64[9] r;
float64[12] p;uint32 binning_x;uint32 binning_y;RegionOfInterest roi;
===
MSG: sensor_msgs/Imu
Header header;geometry_msgs/Quaternion orientation;float64[9] orientation_covariance;
geometry_msgs/Vector3 angular_velocity;float64[9] angular_velocity_covariance;
geometry_msgs/Vector3 linear_acceleration;float64[9] linear_acceleration_covariance;
===
MSG: sensor_msgs/JointState
Header header;string[] name;float64[] position;float64[] velocity;float64[] effort;
===
MSG: sensor_msgs/Joy
Header header;float32[] axes;int32[] buttons;
===
MSG: sensor_msgs/LaserScan
Header header;float32 angle_min;float32 angle_max;float32 angle_increment;float32 time_increment;
float32 scan_time;float32 range_min;float32 range_max;float32[] ranges;float32[] intensities;
===
MSG: sensor_msgs/MagneticField
Header header;geometry_msgs/Vector3 magnetic_field;float64[9] magnetic_field_covariance;
===
MSG: sensor_msgs/NavSatStatus
int8 status;uint16 service;
===
MSG: sensor_msgs/NavSatFix
Header header;NavSatStatus status;float64 latitude;float64 longitude;float64 altitude;
float64[9] position_covariance;uint8 position_covariance_type;
===
MSG: sensor_msgs/PointField
string name;uint32 offset;uint8 datatype;uint32 count;
===
MSG: sensor_msgs/PointCloud2
Header header;uint32 height;uint32 width;PointField[] fields;bool is_bigendian;uint32 point_step;
uint32 row_step;uint8[] data;bool is_dense;
===
MSG: sensor_msgs/Temperature
Header header;float64 temperature;float64 variance;
===
MSG: sensor_msgs/FluidPressure
Header header;float64 fluid_pressure;float64 variance;
===
MSG: nav_msgs/MapMetaData
builtin_interfaces/Time map_load_time;float32 resolution;uint32 width;uint32 height;geometry_msgs/Pose origin;
===
MSG: nav_msgs/OccupancyGrid
Header header;MapMetaData info;int8[] data;
===
MSG: nav_msgs/Odometry
Header header;string child_frame_id;geometry_msgs/PoseWithCovariance pose;
geometry_msgs/TwistWithCovariance twist;
===
MSG: nav_msgs/Path
Header header;geometry_msgs/PoseStamped[] poses;
===
MSG: tf2_msgs/TFMessage
geometry_msgs/TransformStamped[] transforms;
===
MSG: trajectory_msgs/JointTrajectoryPoint
float64[] positions;float64[] velocities;float64[] accelerations;float64[] effort;
builtin_interfaces/Duration time_from_start;
===
MSG: trajectory_msgs/JointTrajectory
Header header;string[] joint_names;JointTrajectoryPoint[] points;
)";

}  // namespace

std::string_view known_definitions() {
  static const auto* const lines = [] {
    auto* text = new std::string(definitions);
    std::replace(text->begin(), text->end(), ';', '\n');
    return text;
  }();
  return *lines;
}

}  // namespace td::bags
